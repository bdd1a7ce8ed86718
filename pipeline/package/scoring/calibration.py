"""Golden report, shallow report and look-alikes scored alike, and whether that tells them apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.package.facts import Fact
from pipeline.package.scoring.look_alikes import MAKERS, LookAlike, look_alikes
from pipeline.package.scoring.score import DIGITS, Score, score, standard

GOLDEN_TARGET, SHALLOW_TARGET, MIN_SPREAD = 0.85, 0.40, 0.50
# How far below the golden report a false look-alike must be, and a true one may be.
FALSE_GAP, TRUE_GAP = 0.25, 0.05
GOLDEN, SHALLOW = "golden-vs-self", "shallow-vs-golden"
# These leave the facts that they do not touch as they are.
PARTIAL = ("numbers-perturbed", "ids-swapped", "claims-negated", "causes-inverted")


@dataclass(frozen=True)
class Check:
    """One demand on the scores."""

    name: str
    score: float
    demand: str
    passed: bool


@dataclass(frozen=True)
class Calibration:
    """All scores and what follows from them."""

    golden: Score
    shallow: Score
    others: tuple[tuple[LookAlike, Score], ...]
    min_spread: float

    @property
    def rewards(self) -> dict[str, Score]:
        """Each score by the name of its folder."""
        own = {each.name: scored for each, scored in self.others}
        return {GOLDEN: self.golden, SHALLOW: self.shallow, **own}

    @property
    def spread(self) -> float:
        """How far the golden report is above the shallow one."""
        return round(self.golden.final - self.shallow.final, DIGITS)

    @property
    def checks(self) -> list[Check]:
        """Every demand in order."""
        golden, shallow, spread = self.golden.final, self.shallow.final, self.spread
        most, least = round(golden - FALSE_GAP, DIGITS), round(golden - TRUE_GAP, DIGITS)
        return [
            Check(GOLDEN, golden, f"at least {GOLDEN_TARGET:.2f}", golden >= GOLDEN_TARGET),
            Check(SHALLOW, shallow, f"at most {SHALLOW_TARGET:.2f}", shallow <= SHALLOW_TARGET),
            Check("spread", spread, f"at least {self.min_spread:.2f}", spread >= self.min_spread),
            *(
                Check(each.name, own.final, f"at least {max(0.0, least):.4f}", own.final >= least)
                if each.is_equal
                else Check(each.name, own.final, f"at most {max(0.0, most):.4f}", own.final <= most)
                for each, own in self.others
            ),
        ]

    @property
    def not_built(self) -> list[str]:
        """Look-alikes that would be the golden report itself: nothing in it could be changed so."""
        built = {each.name for each, _ in self.others}
        return [name for name, *_ in MAKERS if name not in built]

    @property
    def passed(self) -> bool:
        """Whether every demand is met."""
        return all(check.passed for check in self.checks)

    @property
    def weak_facts(self) -> list[dict[str, str]]:
        """Facts that the golden report does not state, or that reports without diagnosis do."""
        bare = {SHALLOW: self.shallow}
        bare |= {
            each.name: own
            for each, own in self.others
            if not each.is_equal and each.name not in PARTIAL
        }
        found = []
        for place, each in enumerate(self.golden.facts):
            name = each.asked.fact.id
            by = [other for other, own in bare.items() if own.facts[place].is_met]
            if not each.is_met:
                found.append({"id": name, "why": f"not in the golden report: {each.lacking}"})
            elif by:
                found.append({"id": name, "why": f"met by {', '.join(by)}"})
        return found

    @property
    def review(self) -> list[str]:
        """What to look at; empty where all is well."""
        if self.passed:
            return []
        failed = [check.name for check in self.checks if not check.passed]
        told = []
        if weak := [f"{each['id']} ({each['why']})" for each in self.weak_facts]:
            told.append(f"Weak facts: {'; '.join(weak)}.")
        if SHALLOW in failed or ("spread" in failed and GOLDEN not in failed):
            told.append("Shallow too close: take diagnosis, citations and task rows out of it.")
        if close := [name for name in failed if name not in (GOLDEN, SHALLOW, "spread")]:
            told.append(f"Look-alikes: {', '.join(close)}; sharpen the facts, give each a value.")
        return told or ["Facts: give each a task, a rollout and a value that only evidence shows."]

    def as_json(self) -> dict[str, Any]:
        """What calibration_summary.json holds."""
        golden = self.golden.final
        return {
            "passed": self.passed,
            "golden_score": golden,
            "shallow_score": self.shallow.final,
            "spread": self.spread,
            "targets": {
                "golden_at_least": GOLDEN_TARGET,
                "shallow_at_most": SHALLOW_TARGET,
                "spread_at_least": self.min_spread,
                "negatives_below_golden_by": FALSE_GAP,
                "equals_below_golden_by": TRUE_GAP,
            },
            "checks": [vars(each) for each in self.checks],
            "look_alikes": {
                each.name: {
                    "what": each.what,
                    "score": own.final,
                    "below_golden": round(golden - own.final, DIGITS),
                    "facts_met": sum(fact.is_met for fact in own.facts),
                }
                for each, own in self.others
            },
            "not_built": self.not_built,
            "weak_facts": self.weak_facts,
            "review": self.review,
        }


def calibrate(
    golden_text: str, shallow_text: str, facts: Sequence[Fact], *, min_spread: float = MIN_SPREAD
) -> Calibration:
    """Score the golden report against itself, the shallow one, and every look-alike."""
    by = standard(golden_text, facts)
    others = tuple((each, score(each.text, by)) for each in look_alikes(golden_text))
    return Calibration(score(golden_text, by), score(shallow_text, by), others, min_spread)
