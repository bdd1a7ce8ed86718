"""Draft facts from a golden report: one claim each, what it cites, and how hard it is to find."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.package.fact_candidates import Candidate, candidates
from pipeline.package.facts import HIGH, LOW, MEDIUM
from pipeline.package.layout import UNSAFE

# What a claim of each section is worth, before what it shows of itself.
SECTION_WORTH = {
    "Dominant Failure Modes": 3.0,
    "Sometimes-Pass Deep Dives": 4.0,
    "Never-Pass Deep Dives": 4.0,
    "Cross-Model Comparison": 2.0,
    "Executive Summary": 1.5,
    "Recommendations": 1.5,
    "Workflow Funnel": 1.0,
    "Task Outcome Buckets": 0.5,
    "Aggregate Results": 0.5,
}
# A section or a task that has a fact already makes its next one worth less.
SECTION_SPENT, TASK_SPENT = 0.8, 2.5
ROW_COSTS = 3.0
# A claim of a few words can be met by chance.
THIN_COSTS, FEWEST_WORDS = 3.0, 5
ALIKE = 0.7


@dataclass(frozen=True)
class Draft:
    """Chosen facts in the order of the report, and why the other statements were left out."""

    facts: tuple[Candidate, ...]
    left_out: tuple[tuple[str, int], ...]


def draft(text: str, *, most: int, least: int = 0) -> Draft:
    """At most so many facts of a golden report, the most telling ones.

    Rows of tables are taken only where sentences give fewer than the least.
    """
    found, left_out = candidates(text)
    distinct, n_repeated = _distinct(found)
    reasons = Counter(left_out)
    reasons["repeats another fact"] += n_repeated
    chosen = _spread([each for each in distinct if not each.is_row], most)
    rows = [each for each in distinct if each.is_row]
    chosen += _spread(rows, max(0, min(least, most) - len(chosen)))
    reasons["less telling than those chosen"] += len(distinct) - len(chosen)
    told = tuple((reason, count) for reason, count in sorted(reasons.items()) if count)
    return Draft(tuple(sorted(chosen, key=_place)), told)


def document(drafted: Draft, *, benchmark: str, model: str) -> dict[str, Any]:
    """The file of anchor facts, waiting for review."""
    name = UNSAFE.sub("-", model).strip("-") or "fact"
    return {
        "benchmark": benchmark,
        "model": model,
        "anchor_facts": [
            _entry(f"{name}-{number:02d}", each) for number, each in enumerate(drafted.facts, 1)
        ],
    }


def difficulty(fact: Candidate) -> tuple[str, str]:
    """How much of the evidence one has to read to know it, and why."""
    claim = fact.claim
    has_event = any(each.seq is not None for each in claim.citations)
    shown = [
        *(["cites an event"] if has_event else []),
        *(["quotes the record"] if fact.has_quote else []),
        *(["gives a cause"] if fact.is_causal else []),
    ]
    is_cited = bool(claim.citations) or bool(claim.tasks)
    if is_cited and not fact.is_row and (len(shown) > 1 or fact.has_quote):
        return HIGH, f"{' and '.join(shown)}: found by reading the trajectory only"
    if claim.citations:
        return MEDIUM, "cites a rollout: found by opening it"
    if claim.tasks:
        return MEDIUM, "is about a single task: found by looking at its attempts"
    return LOW, "names a mode, a tool or a stage: a table of the whole run shows it"


def _entry(name: str, fact: Candidate) -> dict[str, Any]:
    level, reason = difficulty(fact)
    return {
        "id": name,
        "fact": fact.text,
        "difficulty": level,
        "difficulty_reason": reason,
        "section": fact.section,
        "line": fact.line,
        "tasks": list(fact.claim.tasks),
        "rollouts": [str(each) for each in fact.claim.citations],
        "numbers": [number.text for number in fact.claim.numbers],
        "entities": list(fact.claim.names),
        "mean_score": None,
        "review_required": True,
    }


def _worth(fact: Candidate) -> float:
    claim = fact.claim
    level, _ = difficulty(fact)
    return (
        SECTION_WORTH.get(fact.kind or "", 0.0)
        + {HIGH: 3.0, MEDIUM: 1.5, LOW: 0.0}[level]
        + 1.0 * min(2, len(claim.numbers))
        + 1.0 * fact.has_quote
        + 0.75 * bool(claim.names)
        + 0.5 * fact.is_causal
        - ROW_COSTS * fact.is_row
        - THIN_COSTS * (len(claim.words) < FEWEST_WORDS)
    )


def _distinct(found: Sequence[Candidate]) -> tuple[list[Candidate], int]:
    """Of near-equal facts the first of the best."""
    kept: list[Candidate] = []
    by_anchor: dict[tuple[object, ...], list[Candidate]] = {}
    for each in sorted(found, key=lambda fact: (-_worth(fact), fact.line)):
        near = by_anchor.setdefault(_anchors(each), [])
        if not any(_are_alike(each, other) for other in near):
            near.append(each)
            kept.append(each)
    return kept, len(found) - len(kept)


def _anchors(fact: Candidate) -> tuple[object, ...]:
    return tuple(sorted(set(fact.claim.tasks))), tuple(sorted(n.text for n in fact.claim.numbers))


def _are_alike(left: Candidate, right: Candidate) -> bool:
    both, either = left.claim.words & right.claim.words, left.claim.words | right.claim.words
    return len(both) >= ALIKE * len(either) or left.text == right.text


def _spread(found: Sequence[Candidate], most: int) -> list[Candidate]:
    """The most telling, each time counting what its section and its tasks have already."""
    left = list(found)
    sections: Counter[str] = Counter()
    tasks: Counter[str] = Counter()
    chosen: list[Candidate] = []
    while left and len(chosen) < most:
        best = max(
            left, key=lambda fact: (_worth(fact) - _spent(fact, sections, tasks), -fact.line)
        )
        left.remove(best)
        chosen.append(best)
        sections[best.section] += 1
        tasks.update(set(best.claim.tasks))
    return chosen


def _spent(fact: Candidate, sections: Counter[str], tasks: Counter[str]) -> float:
    used = max((tasks[task] for task in fact.claim.tasks), default=0)
    return SECTION_SPENT * sections[fact.section] + TASK_SPENT * used


def _place(fact: Candidate) -> tuple[int, str]:
    return fact.line, fact.text
