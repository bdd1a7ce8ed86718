"""Package -> one table of rules, each with what it means and how to fix it, and how each stands."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipeline.package.validate import golden, rollouts
from pipeline.package.validate.subject import FAIL, PASS, SKIP, WARN, Subject, Told
from pipeline.text import one_line

SKILL, ROLLOUTS, GOLDEN, SHARING = PHASES = ("skill", "rollouts", "golden", "sharing")
LONGEST = 400
# What answers the rules of a phase, each outcome with the id of its rule.
CHECKS: dict[str, Callable[[Subject], Told]] = {
    SKILL: golden.skill,
    ROLLOUTS: rollouts.rollouts,
    GOLDEN: golden.golden,
    SHARING: golden.sharing,
}


@dataclass(frozen=True)
class Rule:
    """What is asked: its phase, what it means where it does not hold, and how to fix it."""

    id: str
    phase: str
    title: str
    meaning: str
    fix: str


TABLE = tomllib.loads(Path(__file__).with_name("rules.toml").read_text(encoding="utf-8"))
RULES = tuple(Rule(**row) for row in TABLE["rule"])
COUNTED = {"passed": PASS, "failed": FAIL, "warnings": WARN, "not_checked": SKIP}


@dataclass(frozen=True)
class Check:
    """A line of the answer; `meaning` and `fix` speak only where it does not pass."""

    id: str
    phase: str
    status: str
    check: str
    message: str
    meaning: str = ""
    fix: str = ""
    file: str = ""
    line: int | None = None


def validate(subject: Subject, phases: Sequence[str] = PHASES) -> list[Check]:
    """How the package stands by each rule of some phases; a rule with nothing to ask is silent."""
    found = [told for phase in phases for told in CHECKS[phase](subject)]
    checks = []
    for rule in RULES:
        for each in (outcome for id_, outcome in found if id_ == rule.id):
            told = f"not checked: {each.message}" if each.status == SKIP else each.message
            advice = (
                (rule.meaning, each.fix or rule.fix) if each.status in (FAIL, WARN) else ("", "")
            )
            place = (one_line(told, LONGEST), *advice, one_line(each.file, LONGEST), each.line)
            checks.append(Check(rule.id, rule.phase, each.status, rule.title, *place))
    return checks


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
