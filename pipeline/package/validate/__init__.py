"""Package -> checks of D1, D2 and D3, each with what it means and how to mend it."""

from __future__ import annotations

from collections.abc import Sequence

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
from pipeline.package.validate.data import Data, gather, written
from pipeline.package.validate.golden import Contradictions, findings
from pipeline.package.validate.readiness import Item, as_json, count, is_ready, readiness
from pipeline.package.validate.sharing import Leak, leaks

__all__ = [
    "FAIL",
    "PASS",
    "PHASES",
    "SKIP",
    "WARN",
    "Check",
    "Data",
    "Item",
    "Leak",
    "as_json",
    "count",
    "findings",
    "gather",
    "is_ready",
    "leaks",
    "readiness",
    "validate",
    "written",
]


def validate(
    package: Package,
    known: Data | None,
    *,
    phases: Sequence[str] = PHASES,
    reason: str = "",
    contradictions: Contradictions | None = None,
    leaks: Sequence[Leak] | None = None,
    least_facts: int = 8,
) -> list[Check]:
    """The checks of some phases; where nothing is known of the rollouts, `reason` says why."""
    listing: list[Check] = []
    if SKILL in phases:
        listing += skill.checks(package, known)
    if ROLLOUTS in phases:
        listing += rollouts.checks(package, known, reason=reason)
    if GOLDEN in phases:
        listing += golden.checks(package, known, contradictions, least_facts=least_facts)
    if SHARING in phases:
        listing += sharing.checks(leaks)
    return listing
