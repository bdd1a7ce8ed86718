"""Findings counted: numbers, citations and quotes by status."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pipeline.package.verify.finding import CONTRADICTED, UNVERIFIABLE, VERIFIED, Finding

STATUSES = (VERIFIED, CONTRADICTED, UNVERIFIABLE)
# Which checks speak of the numbers themselves, each number once; of what is cited; of the rest.
GROUPS = {
    "numbers": ("marked", "number"),
    "citations": ("citation", "task"),
    "claims": ("outcome", "mode", "tool", "quote"),
    "consistency": ("ratio", "total", "repeated"),
    "sidecar": ("sidecar",),
    "redactions": ("redaction",),
}


def summary(findings: Iterable[Finding]) -> dict[str, Any]:
    """How many of each group hold, do not hold, and cannot be told."""
    every = list(findings)
    groups: dict[str, Any] = {}
    for name, checks in GROUPS.items():
        counted = dict.fromkeys(STATUSES, 0)
        for finding in every:
            if finding.check in checks:
                counted[finding.status] += 1
        groups[name] = counted
    n_numbers = sum(groups["numbers"].values())
    share = groups["numbers"][UNVERIFIABLE] / n_numbers if n_numbers else None
    return {
        **groups,
        "share_unverifiable": None if share is None else round(share, 6),
        **{status: sum(group[status] for group in groups.values()) for status in STATUSES},
    }


def summary_line(counts: Mapping[str, Any]) -> str:
    """The same in a line for people."""
    parts = []
    for name in GROUPS:
        found = counts[name]
        if name == "numbers" and sum(found.values()):
            parts.append(f"{name} {found[VERIFIED]:,} verified")
            wrong = [status for status in (CONTRADICTED, UNVERIFIABLE) if found[status]]
            parts += [f"{found[status]:,} {status}" for status in wrong]
        elif sum(found.values()):
            parts.append(f"{name} {found[VERIFIED]:,} of {sum(found.values()):,}")
    share = counts["share_unverifiable"]
    unknown = "" if share is None else f"; {100 * share:.1f}% of numbers unverifiable"
    verdict = "contradicted" if counts[CONTRADICTED] else "no contradiction"
    return f"{verdict}: {', '.join(parts) or 'nothing to verify'}{unknown}"
