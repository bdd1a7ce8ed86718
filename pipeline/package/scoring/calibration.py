"""Golden report, shallow report and look-alikes scored alike, and whether that tells them apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.package.scoring.files import Fact
from pipeline.package.scoring.negatives import MAKERS, Negative, negatives
from pipeline.package.scoring.passages import Passage, of_claim
from pipeline.package.scoring.score import Score, score, standard
from pipeline.package.scoring.structure import thin

GOLDEN_TARGET, SHALLOW_TARGET, MIN_SPREAD, NEGATIVE_GAP = 0.85, 0.40, 0.50, 0.25
GOLDEN, SHALLOW = "golden-vs-self", "shallow-vs-golden"
# What this one states needs no reading, even where the score as a whole is low.
ALWAYS_TOLD = {"metric-dump"}
# What a look-alike leaves as it is says nothing against the facts it meets.
UNTOUCHED: dict[str, Callable[[Passage], bool]] = {
    "numbers-perturbed": lambda claim: not claim.figures,
    "ids-swapped": lambda claim: not claim.tasks,
}


@dataclass(frozen=True)
class Check:
    """One demand on the scores."""

    name: str
    score: float
    demand: str
    passed: bool


@dataclass(frozen=True)
class WeakFact:
    """A fact that does not tell a golden report from others."""

    id: str
    why: str


@dataclass(frozen=True)
class Calibration:
    """All scores and what follows from them."""

    golden: Score
    shallow: Score
    negatives: tuple[tuple[Negative, Score], ...]
    min_spread: float
    thin: tuple[str, ...] = ()

    @property
    def rewards(self) -> dict[str, Score]:
        """Each score by the name of its folder."""
        own = {negative.name: scored for negative, scored in self.negatives}
        return {GOLDEN: self.golden, SHALLOW: self.shallow, **own}

    @property
    def spread(self) -> float:
        """How far the golden report is above the shallow one."""
        return round(self.golden.final - self.shallow.final, 4)

    @property
    def checks(self) -> list[Check]:
        """Every demand in order."""
        golden, shallow, spread = self.golden.final, self.shallow.final, self.spread
        ceiling = round(golden - NEGATIVE_GAP, 4)
        demand = f"at most {max(0.0, ceiling):.4f}"
        own = ((negative.name, scored.final) for negative, scored in self.negatives)
        return [
            Check(GOLDEN, golden, f"at least {GOLDEN_TARGET:.2f}", golden >= GOLDEN_TARGET),
            Check(SHALLOW, shallow, f"at most {SHALLOW_TARGET:.2f}", shallow <= SHALLOW_TARGET),
            Check("spread", spread, f"at least {self.min_spread:.2f}", spread >= self.min_spread),
            *(Check(name, final, demand, final <= ceiling) for name, final in own),
        ]

    @property
    def not_built(self) -> list[str]:
        """Look-alikes that would be the golden report itself: nothing in it could be changed so."""
        built = {negative.name for negative, _ in self.negatives}
        return [name for name, _, _ in MAKERS if name not in built]

    @property
    def passed(self) -> bool:
        """Whether every demand is met."""
        return all(check.passed for check in self.checks)

    @property
    def weak_facts(self) -> list[WeakFact]:
        """Facts that the golden report does not state, or that look-alikes do."""
        found = []
        others = [("the shallow report", self.shallow)]
        told = {check.name for check in self.checks if not check.passed} | ALWAYS_TOLD
        others += [(each.name, own) for each, own in self.negatives if each.name in told]
        for place, each in enumerate(self.golden.facts):
            if not each.is_met:
                found.append(
                    WeakFact(each.fact.id, f"the golden report does not state it ({each.lacking})")
                )
            claim = of_claim(each.fact.fact)
            met_by = [
                name
                for name, own in others
                if own.facts[place].is_met and not (name in UNTOUCHED and UNTOUCHED[name](claim))
            ]
            if met_by:
                found.append(WeakFact(each.fact.id, f"met by {', '.join(met_by)}"))
        return found

    @property
    def review(self) -> list[str]:
        """What to look at; empty where all is well."""
        return [] if self.passed else list(_review(self))

    def as_json(self) -> dict[str, Any]:
        """What calibration_summary.json holds."""
        return {
            "passed": self.passed,
            "golden_score": self.golden.final,
            "shallow_score": self.shallow.final,
            "spread": self.spread,
            "targets": {
                "golden_at_least": GOLDEN_TARGET,
                "shallow_at_most": SHALLOW_TARGET,
                "spread_at_least": self.min_spread,
                "negatives_below_golden_by": NEGATIVE_GAP,
            },
            "checks": [vars(each) for each in self.checks],
            "negatives": {
                negative.name: {
                    "what": negative.what,
                    "score": own.final,
                    "below_golden": round(self.golden.final - own.final, 4),
                    "facts_met": sum(each.is_met for each in own.facts),
                }
                for negative, own in self.negatives
            },
            "not_built": self.not_built,
            "weak_facts": [vars(each) for each in self.weak_facts],
            "thin_sections": list(self.thin),
            "review": self.review,
        }


def calibrate(
    golden_text: str, shallow_text: str, facts: Sequence[Fact], *, min_spread: float = MIN_SPREAD
) -> Calibration:
    """Score the golden report against itself, the shallow one, and every look-alike."""
    by = standard(golden_text, facts)
    return Calibration(
        golden=score(golden_text, by),
        shallow=score(shallow_text, by),
        negatives=tuple((each, score(each.text, by)) for each in negatives(golden_text)),
        min_spread=min_spread,
        thin=tuple(thin(by.golden)),
    )


def _review(found: Calibration) -> list[str]:
    told = []
    failed = {check.name for check in found.checks if not check.passed}
    weak = [f"{each.id} ({each.why})" for each in found.weak_facts]
    if weak:
        told.append(f"Weak facts: {'; '.join(weak)}.")
    # Where the golden report is low itself, the spread says nothing of the shallow one.
    if SHALLOW in failed or ("spread" in failed and GOLDEN not in failed):
        told.append("Shallow too close: take diagnosis, citations and task rows out of it.")
    if not found.golden.evidence.n_golden_tasks:
        told.append("Evidence missing: the golden report names no task and cites no rollout.")
    elif found.golden.evidence.soundness < 1 and GOLDEN in failed:
        told.append("Evidence missing: some citations of the golden report do not hold.")
    if found.thin:
        told.append(f"Sections thin: {', '.join(found.thin)}.")
    close = sorted(failed - {GOLDEN, SHALLOW, "spread"})
    if close:
        told.append(
            f"Look-alikes too close to golden: {', '.join(close)}; sharpen the facts they meet."
        )
    return told or ["Facts: give each a task, a rollout and a number that only evidence shows."]
