"""Golden and shallow report scored by the same facts: whether these distinguish the two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .facts import Fact
from .score import DIGITS, Score, score, standard

GOLDEN_TARGET, SHALLOW_TARGET, MIN_SPREAD = 0.85, 0.40, 0.50
GOLDEN, SHALLOW, SPREAD = "golden-vs-self", "shallow-vs-golden", "spread"


def calibrate(
    golden_text: str, shallow_text: str, facts: Sequence[Fact], *, min_spread: float = MIN_SPREAD
) -> tuple[dict[str, Any], dict[str, Score]]:
    """What calibration_summary.json holds, and each score by the name of its folder."""
    by = standard(golden_text, facts)
    scores = {GOLDEN: score(golden_text, by), SHALLOW: score(shallow_text, by)}
    golden, shallow = scores[GOLDEN].final, scores[SHALLOW].final
    spread = round(golden - shallow, DIGITS)
    checks = [
        _check(GOLDEN, golden, GOLDEN_TARGET, is_least=True),
        _check(SHALLOW, shallow, SHALLOW_TARGET, is_least=False),
        _check(SPREAD, spread, min_spread, is_least=True),
    ]
    failed = [each["name"] for each in checks if not each["passed"]]
    weak = list(_weak_facts(scores))
    summary = {
        "passed": not failed,
        "golden_score": golden,
        "shallow_score": shallow,
        "spread": spread,
        "targets": {
            "golden_at_least": GOLDEN_TARGET,
            "shallow_at_most": SHALLOW_TARGET,
            "spread_at_least": min_spread,
        },
        "checks": checks,
        "weak_facts": weak,
        "review": list(_review(failed, weak)),
    }
    return summary, scores


def _check(name: str, final: float, limit: float, *, is_least: bool) -> dict[str, Any]:
    demand = f"at {'least' if is_least else 'most'} {limit:g}"
    passed = final >= limit if is_least else final <= limit
    return {"name": name, "score": final, "demand": demand, "passed": passed}


def _weak_facts(scores: Mapping[str, Score]) -> Iterator[dict[str, str]]:
    """Facts that the golden report does not state, or that the shallow one does."""
    for golden, shallow in zip(scores[GOLDEN].facts, scores[SHALLOW].facts, strict=True):
        if not golden.is_met:
            why = f"not in the golden report: {golden.lacking}"
            yield {"id": golden.wanted.fact.id, "why": why}
        elif shallow.is_met:
            yield {"id": golden.wanted.fact.id, "why": f"met by {SHALLOW}"}


def _review(failed: Sequence[str], weak: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """What to look at; nothing where calibration passes."""
    is_close = SHALLOW in failed or (SPREAD in failed and GOLDEN not in failed)
    if failed and weak:
        listed = "; ".join(f"{each['id']} ({each['why']})" for each in weak)
        yield f"Weak facts: {listed}."
    if is_close:
        yield "Shallow too close: take diagnosis, citations and task rows out of it."
    if failed and not (weak or is_close):
        yield "Facts: give each a task, a rollout and a value that only evidence shows."
