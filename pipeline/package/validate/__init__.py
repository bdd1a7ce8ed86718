"""Package -> one table of rules, each with what it means and how to fix it, and how each stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from pipeline.package.files import names_in
from pipeline.package.validate import golden
from pipeline.package.validate.subject import (
    FAIL,
    PASS,
    RULES,
    SKIP,
    TABLE,
    WARN,
    Check,
    Checks,
    Subject,
    counted,
    held,
    listed,
    outcome,
)

SKILL, ROLLOUTS, GOLDEN, SHARING = PHASES = ("skill", "rollouts", "golden", "sharing")
MOVE = (
    "If this is a results folder, make a package of it with `blade init --benchmark-dir PACKAGE "
    "--benchmark NAME --results THIS_FOLDER`; else move the files into rollouts/."
)
COUNTED = {"passed": PASS, "failed": FAIL, "warnings": WARN, "not_checked": SKIP}


def validate(subject: Subject, phases: Sequence[str] = PHASES) -> list[Check]:
    """How the package stands by each rule of some phases; a rule with nothing to ask is silent."""
    order = {rule.id: place for place, rule in enumerate(RULES)}
    found = [each for phase in phases for each in CHECKS[phase](subject)]
    return sorted(found, key=lambda each: order[each.id])


def _rollouts(subject: Subject) -> Checks:
    """Files, then how runs compare, then what rows hold, by the queries of the rules."""
    elsewhere = names_in(subject.package.folder, ".jsonl")
    if not subject.package.rollouts and elsewhere:
        told = f"no rollout file; {counted(len(elsewhere), 'file')} at the top: {listed(elsewhere)}"
        yield outcome("rollouts.present", FAIL, told, fix=MOVE)
    elif subject.warehouse is None:
        yield held("rollouts.present", False, subject.reason or "no file holds rollouts")
    elif not subject.asked("from files"):
        yield held("rollouts.present", False, "no file holds rollouts")
    else:
        for rule in RULES:
            for found in subject.asked(rule.query) if rule.query else ():
                yield outcome(rule.id, *found)


# What answers the rules of a phase, each outcome with the id of its rule.
CHECKS: dict[str, Callable[[Subject], Checks]] = {
    SKILL: golden.skill,
    ROLLOUTS: _rollouts,
    GOLDEN: golden.golden,
    SHARING: golden.sharing,
}


def count(checks: Sequence[Check], status: str) -> int:
    """How many stand so."""
    return sum(each.status == status for each in checks)


def readiness(checks: Sequence[Check]) -> list[dict[str, Any]]:
    """The checklist; an item without a check behind it fails, for nothing shows that it holds."""
    items = []
    for start, words in TABLE["checklist"].items():
        behind = [each for each in checks if each.id.startswith(f"{start}.")]
        counts = {f"n_{key}": count(behind, status) for key, status in COUNTED.items()}
        is_failed = bool(counts["n_failed"]) or not behind
        status = FAIL if is_failed else SKIP if counts["n_not_checked"] else PASS
        items.append({"item": words, "status": status, **counts})
    return items


def as_json(checks: Sequence[Check], items: Sequence[dict[str, Any]], phase: str) -> dict[str, Any]:
    """All of it for a program; readiness only where there is a checklist."""
    counts = {key: count(checks, status) for key, status in COUNTED.items()}
    ready = {"is_ready": all(item["status"] == PASS for item in items)} if items else {}
    return {
        "checks": [asdict(each) for each in checks],
        "readiness": [*items],
        "summary": {"phase": phase, **counts, **ready},
    }
