"""Package -> checks of D1, D2 and D3, each with what it means and how to mend it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.package.layout import Package
from pipeline.package.validate import golden, rollouts, sharing, skill
from pipeline.package.validate.check import (
    FAIL,
    GOLDEN,
    PASS,
    PHASES,
    ROLLOUTS,
    SHARING,
    SKILL,
    SKIP,
    WARN,
    Check,
)
from pipeline.package.validate.data import Asked, data
from pipeline.package.validate.golden import Contradictions
from pipeline.package.validate.readiness import Item, is_ready, readiness
from pipeline.package.validate.row_files import row_files
from pipeline.package.validate.sharing import Leak

__all__ = [
    "FAIL",
    "PASS",
    "PHASES",
    "SKIP",
    "WARN",
    "Check",
    "Item",
    "Leak",
    "is_ready",
    "readiness",
    "validate",
]


def validate(
    package: Package,
    warehouse: Asked | None,
    *,
    phases: Sequence[str] = PHASES,
    reason: str = "",
    metrics: Mapping[str, Mapping[str, Any]] | None = None,
    contradictions: Contradictions | None = None,
    leaks: Sequence[Leak] | None = None,
    least_facts: int = 8,
) -> list[Check]:
    """The checks of some phases; without a warehouse of the rollouts `reason` says why."""
    files, fields = row_files(warehouse) if warehouse is not None else ([], {})
    known = data(warehouse, fields, metrics or {}) if warehouse is not None else None
    listing: list[Check] = []
    if SKILL in phases:
        listing += skill.checks(package, known)
    if ROLLOUTS in phases:
        if warehouse is None or known is None:
            listing += rollouts.absent(package, reason)
        else:
            listing += rollouts.checks(package, files, known.runs, warehouse)
    if GOLDEN in phases:
        listing += golden.checks(package, known, contradictions, least_facts=least_facts)
    if SHARING in phases:
        listing += sharing.checks(leaks)
    return listing
