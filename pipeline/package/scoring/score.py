"""Report, golden report and facts -> one score: what is stated, times how much of it holds."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipeline.package.facts import Fact
from pipeline.package.scoring import matching
from pipeline.package.scoring.matching import BUCKETS, SAME, Asked, Met, difference, likeness
from pipeline.package.scoring.passages import Passage, Text, passages, values
from pipeline.package.sources import CONTRADICTED, VERIFIED, Finding
from pipeline.text import one_line

DIGITS = 4
WEIGHTS = {"high": 3.0, "medium": 2.0, "low": 1.0}
# A statement may stand for so many facts, or as many as one of the golden report does.
MOST_OF_ONE = 2
SHOWN = 160
# One lie in five is worth half.
POWER = math.log(0.5) / math.log(0.8)
FEWEST_STEMS, FEWEST_CAUSES = 4, 5
# Sentences of a word, and rows of a name, that one is compared with.
MOST = 20

Judge = Callable[[Sequence[Met], Text], tuple[list[Met], dict[str, Any]]]


@dataclass
class Soundness:
    """The claims of a report that anything can be said of, by the line that each begins on."""

    # Where and why a claim does not hold; nothing where it does.
    claims: dict[int, tuple[int, str] | None] = field(default_factory=dict)
    # Tasks whose cause the report gives, and whether it is the golden report's.
    causes: dict[str, bool] = field(default_factory=dict)

    def add(self, claim: int, line: int, why: str) -> None:
        """A claim that holds, or why it does not: the first reason stays."""
        self.claims[claim] = self.claims.get(claim) or ((line, why) if why else None)

    @property
    def contradicted(self) -> list[tuple[int, str]]:
        """Line and reason of each claim that does not hold."""
        return sorted(why for why in self.claims.values() if why)

    @property
    def share(self) -> float:
        """The share of them that are not contradicted; right tables do not pay for wrong causes."""
        share = 1 - len(self.contradicted) / len(self.claims) if self.claims else 1.0
        n_causes = len(self.causes)
        is_told = n_causes >= FEWEST_CAUSES
        return min(share, sum(self.causes.values()) / n_causes) if is_told else share

    @property
    def value(self) -> float:
        """What the score is multiplied with."""
        return float(self.share**POWER)


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
    sound = _soundness(read, by.golden, by.asked, findings)
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
        "line": passage.unit.line if passage else None,
        "block": one_line(passage.seen, SHOWN) if passage else None,
        "lacking": each.lacking or None,
    }


def _soundness(
    text: Text, golden: Text, wanted: Sequence[Asked], findings: Iterable[Finding] = ()
) -> Soundness:
    """A report's claims compared with the golden report, its facts, and what verify found."""
    found = Soundness()
    for passage, why in _copied(text, golden):
        found.add(passage.claim, passage.unit.line, why)
    known = {task: set(causes) for task, causes in golden.causes.items()}
    for each in wanted:
        for task in each.tasks if each.fact.predicate == "cause" else ():
            known.setdefault(task, set()).update(str(each.fact.value).split("+"))
    for passage in text.passages:
        for task in sorted(passage.explained & known.keys()):
            is_right = bool(passage.labels[0] & known[task])
            told = f"the golden report gives task {task} {'+'.join(sorted(known[task]))}"
            found.add(passage.claim, passage.unit.line, "" if is_right else told)
            found.causes[task] = found.causes.get(task, True) and is_right
    for finding in findings:
        claim = text.claim_at(finding.line)
        if claim is not None and finding.status in (VERIFIED, CONTRADICTED):
            is_right = finding.status == VERIFIED
            found.add(claim, finding.line, "" if is_right else f"the data say {finding.expected}")
    return found


def _copied(text: Text, golden: Text) -> Iterator[tuple[Passage, str]]:
    """Sentences and rows that stand in the golden report too, but for a value or a no."""
    rows: dict[str, list[Passage]] = defaultdict(list)
    by_stem: dict[str, list[Passage]] = defaultdict(list)
    counts = Counter(stem for each in golden.sentences for stem in each.said)
    for each in {one.seen: one for one in golden.sentences}.values():
        if each.unit.is_row:
            rows[_row_name(each)].append(each)
        else:
            for stem in _rarest(each, counts):
                by_stem[stem].append(each)
    for passage in text.sentences:
        if passage.unit.is_row:
            yield from _row(passage, rows[_row_name(passage)][:MOST])
        elif len(passage.said) >= FEWEST_STEMS:
            found = (each for stem in _rarest(passage, counts) for each in by_stem[stem][:MOST])
            same = [each for each in dict.fromkeys(found) if likeness(each, passage) >= SAME]
            whys = [(difference(each, passage), each.unit.line) for each in same]
            if whys:
                why, line = whys[0]
                is_right = any(not why for why, _ in whys)
                # What names and counts nothing is right in any report.
                if not is_right or passage.figures or passage.own_tasks or passage.names:
                    yield passage, "" if is_right else f"the golden report {why} at line {line}"


def _rarest(passage: Passage, counts: Counter[str]) -> list[str]:
    """Its rarest words: sentences that share enough of all share one of these."""
    said = sorted(passage.said, key=lambda stem: (counts[stem], stem))
    return said[: math.floor((1 - SAME) * len(said)) + 1]


def _row_name(passage: Passage) -> str:
    return passage.unit.raw(passage.unit.spans[0]).strip(" *`").lower()


def _row(passage: Passage, same: list[Passage]) -> Iterator[tuple[Passage, str]]:
    """A row of the same name and as many figures, with some others or with another cause."""
    mine = values(passage.figures)
    whys = []
    for each in same:
        theirs = values(each.figures)
        n_same = (mine & theirs).total()
        if mine.total() == theirs.total() and 2 * n_same >= mine.total():
            told = f"the golden report has other values at line {each.unit.line}"
            whys.append("" if (mine, _words(passage)) == (theirs, _words(each)) else told)
    if whys:
        yield passage, "" if "" in whys else whys[0]


def _words(row: Passage) -> tuple[object, ...]:
    """The words of a row that have a value: its causes, and a cell that is a bucket."""
    cells = {row.unit.raw(span).strip(" *`").lower() for span in row.unit.spans}
    return row.labels, frozenset(cells & BUCKETS.keys())
