"""The checklist before a benchmark is called BLADE-ready, each item by the checks behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pipeline.package.validate.check import FAIL, PASS, SKIP, WARN, Check

# The words are the checklist's; the checks behind an item by how their ids begin.
ITEMS = (
    ("D1 skill has overview, schema, taxonomy, workflow, and report template.", "skill."),
    ("D2 rollouts include at least two scored, comparable runs.", "rollouts."),
    ("D3 golden reports cite task-level evidence, not only aggregate tables.", "golden."),
    ("Metrics sidecars parse and match the report.", "metrics."),
    ("Anchor facts exist for each golden report and are concrete.", "facts."),
    ("Shallow baselines exist for calibration.", "shallow."),
    (
        "Sanitization removes private source, endpoints, credentials, user names, unreleased "
        "benchmark names, and raw data that is not cleared for sharing.",
        "sanitized.",
    ),
)


@dataclass(frozen=True)
class Item:
    """A line of the checklist."""

    item: str
    status: str
    n_passed: int
    n_failed: int
    n_warnings: int
    n_not_checked: int


def readiness(checks: Sequence[Check]) -> list[Item]:
    """The checklist; an item without a check behind it fails, for nothing shows that it holds."""
    return [
        _item(words, [each for each in checks if each.id.startswith(start)])
        for words, start in ITEMS
    ]


def is_ready(items: Sequence[Item]) -> bool:
    """Whether every item holds."""
    return all(item.status == PASS for item in items)


def _item(words: str, behind: Sequence[Check]) -> Item:
    counts = {status: count(behind, status) for status in (PASS, FAIL, WARN, SKIP)}
    status = FAIL if counts[FAIL] or not behind else SKIP if counts[SKIP] else PASS
    return Item(words, status, counts[PASS], counts[FAIL], counts[WARN], counts[SKIP])


def as_json(checks: Sequence[Check], items: Sequence[Item], phase: str) -> dict[str, Any]:
    """All of it for a program; readiness only where there is a checklist."""
    statuses = {"passed": PASS, "failed": FAIL, "warnings": WARN, "not_checked": SKIP}
    counts = {name: count(checks, status) for name, status in statuses.items()}
    ready = {"is_ready": is_ready(items)} if items else {}
    return {
        "checks": [asdict(each) for each in checks],
        "readiness": [asdict(item) for item in items],
        "summary": {"phase": phase, **counts, **ready},
    }


def count(checks: Sequence[Check], status: str) -> int:
    """How many stand so."""
    return sum(each.status == status for each in checks)
