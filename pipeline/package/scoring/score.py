"""Report, golden report and facts -> one score: what is stated, times how much of it holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.package.facts import Fact
from pipeline.package.scoring import matching
from pipeline.package.scoring.matching import Asked, Met
from pipeline.package.scoring.passages import Text, passages
from pipeline.package.scoring.soundness import Soundness, soundness
from pipeline.report.sources import Finding
from pipeline.text import one_line

DIGITS = 4
WEIGHTS = {"high": 3.0, "medium": 2.0, "low": 1.0}
# A statement may stand for so many facts, or as many as one of the golden report does.
MOST_OF_ONE = 2
SHOWN = 160

Judge = Callable[[Sequence[Met], Text], tuple[list[Met], dict[str, Any]]]


@dataclass(frozen=True)
class Standard:
    """A golden report and its facts, read once for any number of reports."""

    golden: Text
    asked: tuple[Asked, ...]
    most_of_one: int


@dataclass(frozen=True)
class Score:
    """What a report is worth by a golden one, and why."""

    facts: tuple[Met, ...]
    soundness: Soundness
    judge: dict[str, Any] | None = None

    @property
    def coverage(self) -> float:
        """The share of the facts that are met, by their worth."""
        worth = [(WEIGHTS[each.asked.fact.difficulty], each.is_met) for each in self.facts]
        whole = sum(weight for weight, _ in worth)
        return sum(weight for weight, is_met in worth if is_met) / whole if whole else 0.0

    @property
    def final(self) -> float:
        """The score, from 0 to 1."""
        return round(self.coverage * self.soundness.value, DIGITS)

    def as_json(self) -> dict[str, Any]:
        """What reward.json holds."""
        sound = self.soundness
        return {
            "final_score": self.final,
            "parts": {
                "facts": round(self.coverage, DIGITS),
                "soundness": round(sound.value, DIGITS),
            },
            "n_facts": len(self.facts),
            "n_facts_met": sum(each.is_met for each in self.facts),
            "facts": [_told(each) for each in self.facts],
            "claims": {
                "checkable": len(sound.claims),
                "contradicted": len(sound.contradicted),
                "contradictions": [
                    {"line": line, "why": one_line(why, SHOWN)} for line, why in sound.contradicted
                ],
            },
            **({"judge": self.judge} if self.judge else {}),
        }


def standard(golden_text: str, facts: Sequence[Fact]) -> Standard:
    """What reports are scored by."""
    golden = passages(golden_text)
    wanted = tuple(matching.asked(facts, golden))
    found = matching.met(wanted, golden)
    counts = Counter(each.passage.claim for each in found if each.passage and each.is_met)
    return Standard(golden, wanted, max(MOST_OF_ONE, *counts.values(), 0))


def score(
    text: str,
    by: Standard,
    *,
    claims: Sequence[Fact] = (),
    findings: Iterable[Finding] = (),
    judge: Judge | None = None,
) -> Score:
    """A report's score; `claims` are those it brings itself, `findings` what the data say of it."""
    read = passages(text)
    found = matching.met(by.asked, read, by.most_of_one)
    found = [
        Met(each.asked, each.passage, by="claims")
        if any(_is_same(each.asked.fact, claim) for claim in claims)
        else each
        for each in found
    ]
    sound = soundness(read, by.golden, by.asked, findings)
    if judge is None:
        return Score(tuple(found), sound)
    judged, account = judge(found, read)
    return Score(tuple(judged), sound, account)


def _is_same(fact: Fact, claim: Fact) -> bool:
    """Whether a claim that a report brings has the fact's subject, predicate and value."""
    mine, theirs, one, two = fact.subject, claim.subject, fact.value, claim.value
    if isinstance(one, str) or isinstance(two, str):
        is_equal = str(one).casefold() == str(two).casefold()
    else:
        is_equal = two is not None and abs((one or 0) - two) <= 1e-9 + 5e-4 * abs(one or 0)
    return (
        fact.is_structured
        and one is not None
        and is_equal
        and (mine.run, mine.task) == (theirs.run, theirs.task)
        and set(mine.rollouts) >= set(theirs.rollouts)
        and fact.predicate == claim.predicate
    )


def _told(each: Met) -> dict[str, Any]:
    fact, passage = each.asked.fact, each.passage if each.is_met else None
    return {
        "id": fact.id,
        "difficulty": fact.difficulty,
        "met": each.is_met,
        "by": each.by if each.is_met or each.by == "judge" else None,
        "line": passage.line if passage else None,
        "block": one_line(passage.seen, SHOWN) if passage else None,
        "lacking": each.lacking or None,
    }
