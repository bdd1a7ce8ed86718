"""Golden report, shallow report and look-alikes scored alike, and whether that tells them apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipeline.package.facts import Fact
from pipeline.package.scoring.look_alikes import MAKERS, look_alikes
from pipeline.package.scoring.score import DIGITS, Score, score, standard

GOLDEN_TARGET, SHALLOW_TARGET, MIN_SPREAD = 0.85, 0.40, 0.50
# How far below the golden report a false look-alike must be, and a true one may be.
FALSE_GAP, TRUE_GAP = 0.25, 0.05
GOLDEN, SHALLOW, SPREAD = "golden-vs-self", "shallow-vs-golden", "spread"
# What says less than the golden report, and not something else: no fact should survive it.
BARE = (SHALLOW, "words-shuffled", "vocabulary-list", "keyword-stuffing", "metric-dump")


def calibrate(
    golden_text: str, shallow_text: str, facts: Sequence[Fact], *, min_spread: float = MIN_SPREAD
) -> tuple[dict[str, Any], dict[str, Score]]:
    """What calibration_summary.json holds, and each score by the name of its folder."""
    by, built = standard(golden_text, facts), look_alikes(golden_text)
    scores = {GOLDEN: score(golden_text, by), SHALLOW: score(shallow_text, by)}
    scores |= {each.name: score(each.text, by) for each in built}
    finals = {name: each.final for name, each in scores.items()}
    golden = finals[GOLDEN]
    spread = round(golden - finals[SHALLOW], DIGITS)
    checks = [
        _check(GOLDEN, golden, GOLDEN_TARGET, is_least=True),
        _check(SHALLOW, finals[SHALLOW], SHALLOW_TARGET, is_least=False),
        _check(SPREAD, spread, min_spread, is_least=True),
    ]
    for each in built:
        limit = max(0.0, round(golden - (TRUE_GAP if each.is_equal else FALSE_GAP), DIGITS))
        checks.append(_check(each.name, finals[each.name], limit, is_least=each.is_equal))
    failed = [each["name"] for each in checks if not each["passed"]]
    weak = list(_weak_facts(scores))
    summary = {
        "passed": not failed,
        "golden_score": golden,
        "shallow_score": finals[SHALLOW],
        "spread": spread,
        "targets": {
            "golden_at_least": GOLDEN_TARGET,
            "shallow_at_most": SHALLOW_TARGET,
            "spread_at_least": min_spread,
            "negatives_below_golden_by": FALSE_GAP,
            "equals_below_golden_by": TRUE_GAP,
        },
        "checks": checks,
        "look_alikes": {
            each.name: {
                "what": each.what,
                "score": finals[each.name],
                "below_golden": round(golden - finals[each.name], DIGITS),
                "facts_met": sum(fact.is_met for fact in scores[each.name].facts),
            }
            for each in built
        },
        # Those that would be the golden report itself: nothing in it could be changed so.
        "not_built": [name for name, *_ in MAKERS if name not in scores],
        "weak_facts": weak,
        "review": list(_review(failed, weak)),
    }
    return summary, scores


def _check(name: str, final: float, limit: float, *, is_least: bool) -> dict[str, Any]:
    """One demand on the scores."""
    demand = f"at {'least' if is_least else 'most'} {limit:g}"
    passed = final >= limit if is_least else final <= limit
    return {"name": name, "score": final, "demand": demand, "passed": passed}


def _weak_facts(scores: Mapping[str, Score]) -> Iterator[dict[str, str]]:
    """Facts that the golden report does not state, or that reports without diagnosis do."""
    for place, each in enumerate(scores[GOLDEN].facts):
        by = [name for name in BARE if name in scores and scores[name].facts[place].is_met]
        if not each.is_met:
            why = f"not in the golden report: {each.lacking}"
            yield {"id": each.asked.fact.id, "why": why}
        elif by:
            yield {"id": each.asked.fact.id, "why": f"met by {', '.join(by)}"}


def _review(failed: Sequence[str], weak: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """What to look at; nothing where all is well."""
    close = [name for name in failed if name not in (GOLDEN, SHALLOW, SPREAD)]
    is_close = SHALLOW in failed or (SPREAD in failed and GOLDEN not in failed)
    if failed and weak:
        told = "; ".join(f"{each['id']} ({each['why']})" for each in weak)
        yield f"Weak facts: {told}."
    if is_close:
        yield "Shallow too close: take diagnosis, citations and task rows out of it."
    if close:
        yield f"Look-alikes: {', '.join(close)}; sharpen the facts, give each a value."
    if failed and not (weak or is_close or close):
        yield "Facts: give each a task, a rollout and a value that only evidence shows."
