"""Report, golden report and facts -> one score and its parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.package.scoring import facts_met, structure
from pipeline.package.scoring.evidence import Evidence, Resolves, evidence
from pipeline.package.scoring.facts_met import Asked, Met
from pipeline.package.scoring.figures import Figures, figures
from pipeline.package.scoring.files import Fact
from pipeline.package.scoring.fluency import MIN_FUNCTION_SHARE, Flow, total
from pipeline.package.scoring.passages import Report, report
from pipeline.package.scoring.structure import SectionScore
from pipeline.report.sources import Finding

WEIGHTS = {"facts": 0.60, "evidence": 0.16, "structure": 0.12, "numbers": 0.12}
# What remains of a score when all facts are denied, all numbers wrong, no citation holds, or no
# section is there.
FLOOR_FACTS, FLOOR_NUMBERS, FLOOR_EVIDENCE, FLOOR_STRUCTURE = 0.4, 0.35, 0.4, 0.4
# Broken pairs of function words: below the first it is prose, above the second no sentence is left.
BROKEN = (0.05, 0.13)
# Function words by the golden report's share: below the first a list, above the second prose.
HELD_TOGETHER = (0.4, 0.6)
FEWEST_WORDS = 60
LIST_SHARE = 0.4
DIGITS = 4


@dataclass(frozen=True)
class Standard:
    """A golden report and its facts, read once for any number of reports."""

    golden: Report
    asked: tuple[Asked, ...]
    most_of_one: int
    flow: Flow

    @property
    def least(self) -> float:
        """The share of function words below which a statement is a list, in this language."""
        return min(MIN_FUNCTION_SHARE, LIST_SHARE * self.flow.function_share)


@dataclass(frozen=True)
class Score:
    """What a report is worth by a golden one, and why."""

    facts: tuple[Met, ...]
    sections: tuple[SectionScore, ...]
    evidence: Evidence
    figures: Figures
    sense: float

    @property
    def parts(self) -> dict[str, float | None]:
        """The parts from 0 to 1; none where the golden report has nothing to ask for."""
        return {
            "facts": facts_met.weighted(self.facts),
            "evidence": self.evidence.score,
            "structure": structure.mean(list(self.sections)),
            "numbers": self.figures.score,
        }

    @property
    def gates(self) -> dict[str, float]:
        """What the sum of the parts is multiplied with: no part pays for a broken one."""
        return {
            "sense": self.sense,
            "facts": _gate(facts_met.agreement(self.facts), FLOOR_FACTS),
            "evidence": _gate(self.evidence.soundness, FLOOR_EVIDENCE),
            "structure": _gate(structure.mean(list(self.sections)), FLOOR_STRUCTURE),
            "numbers": _gate(self.figures.accuracy, FLOOR_NUMBERS),
        }

    @property
    def final(self) -> float:
        """The score, from 0 to 1."""
        told = {name: part for name, part in self.parts.items() if part is not None}
        weight = sum(WEIGHTS[name] for name in told)
        value = sum(WEIGHTS[name] * part for name, part in told.items()) / weight
        for gate in self.gates.values():
            value *= gate
        return round(value, DIGITS)

    def as_json(self) -> dict[str, Any]:
        """What reward.json holds."""
        return {
            "final_score": self.final,
            "parts": {name: _rounded(part) for name, part in self.parts.items()},
            "weights": WEIGHTS,
            "gates": {name: _rounded(gate) for name, gate in self.gates.items()},
            "n_facts": len(self.facts),
            "n_facts_met": sum(each.is_met for each in self.facts),
            "facts": [
                {
                    "id": each.fact.id,
                    "difficulty": each.fact.difficulty,
                    "credit": _rounded(each.credit),
                    "met": each.is_met,
                    "line": each.line,
                    "lacking": each.lacking or None,
                }
                for each in self.facts
            ],
            "sections": [
                {
                    "section": each.section,
                    "present": each.is_present,
                    "substantive": each.is_substantive,
                    "belongs": each.is_substantive and each.belongs,
                }
                for each in self.sections
            ],
            "evidence": {
                "citations": self.evidence.n_cited,
                "resolved": self.evidence.n_resolved,
                "statements_compared": self.evidence.n_compared,
                "statements_agreeing": self.evidence.n_agreeing,
                "tasks": self.evidence.n_tasks,
                "golden_tasks": self.evidence.n_golden_tasks,
                "rollouts": self.evidence.n_rollouts,
                "golden_rollouts": self.evidence.n_golden_rollouts,
            },
            "numbers": {
                "compared": self.figures.n_compared,
                "agreeing": self.figures.n_agreeing,
                "against": self.figures.source,
            },
        }


def standard(golden_text: str, facts: Sequence[Fact]) -> Standard:
    """What reports are scored by."""
    golden = report(golden_text)
    wanted = tuple(facts_met.asked(facts, golden))
    return Standard(golden, wanted, facts_met.busiest(wanted, golden), _flow(golden))


def score(
    text: str,
    by: Standard,
    *,
    resolves: Resolves | None = None,
    findings: Sequence[Finding] | None = None,
) -> Score:
    """A report's score; what cites and counts is held to the data where they are given."""
    scored = report(text)
    return Score(
        facts=tuple(facts_met.met(by.asked, scored, most_of_one=by.most_of_one)),
        sections=tuple(structure.structure(scored, by.golden, least=by.least)),
        evidence=evidence(scored, by.golden, resolves, least=by.least),
        figures=figures(scored, by.golden, findings),
        sense=_sense(_flow(scored), by.flow),
    )


def _flow(read: Report) -> Flow:
    return total(each.flow for each in read.statements if not each.is_row)


def _sense(own: Flow, golden: Flow) -> float:
    """Whether the words of the whole report stand in sentences: 1 prose, 0 shuffled or listed."""
    if own.n_words < FEWEST_WORDS or not golden.function_share:
        return 1.0
    low, high = BROKEN
    whole = (high - max(0.0, own.broken_share - golden.broken_share)) / (high - low)
    low, high = HELD_TOGETHER
    held = (own.function_share / golden.function_share - low) / (high - low)
    return min(1.0, max(0.0, min(whole, held)))


def _gate(value: float, floor: float) -> float:
    return floor + (1 - floor) * value


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)
