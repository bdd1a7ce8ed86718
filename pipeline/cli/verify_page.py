"""Findings on a report, for people: contradictions first, then what nothing speaks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from pipeline.package.verify.finding import CONTRADICTED, UNVERIFIABLE, VERIFIED, Finding
from pipeline.text import neutral, one_line

LONGEST = 200
MOST_UNVERIFIABLE = 20
HINTS = {
    "marked": "Write the figure that the data give, or correct the mark behind it.",
    "number": "Write the figure that the data give, or say more exactly what it counts.",
    "ratio": "Correct the part, the whole or the percentage: they do not belong together.",
    "total": "Correct the total, the rows or the whole that the head names.",
    "repeated": "Make both places say the same.",
    "citation": "Cite a rollout that exists; blade show opens it.",
    "task": "Name a task that exists.",
    "outcome": "Cite a rollout of that outcome, or correct what is said of it.",
    "mode": "Cite a rollout that has the mode, or name its own.",
    "tool": "Cite a rollout that shows it, or correct what is said of it.",
    "quote": "Quote what is there, or cite where it was said.",
    "sidecar": "Make report, sidecar and data agree; blade metrics RUN prints the figures.",
}


def print_findings(
    findings: list[Finding], counts: Mapping[str, Any], paths: Mapping[str, str]
) -> None:
    """Everything a person has to act on, and what was found in numbers."""
    wrong = [finding for finding in findings if finding.status == CONTRADICTED]
    for finding in wrong:
        _print_contradiction(finding, paths)
    unknown = [finding for finding in findings if finding.status == UNVERIFIABLE]
    if unknown:
        click.echo("Unverifiable:")
    for finding in unknown[:MOST_UNVERIFIABLE]:
        where = _where(finding, paths)
        click.echo(f"  {where}  {_line(finding.claim)}  ({_line(finding.source)})")
    if len(unknown) > MOST_UNVERIFIABLE:
        click.echo(f"  and {len(unknown) - MOST_UNVERIFIABLE:,} more; --json lists all")
    if wrong or unknown:
        click.echo()
    click.echo(_summary(counts))


def _print_contradiction(finding: Finding, paths: Mapping[str, str]) -> None:
    click.echo(f"{_where(finding, paths)}: contradicted ({finding.check})")
    click.echo(f"  says      {_line(finding.claim)}")
    click.echo(f"  expected  {_line(finding.expected or 'something else')}")
    click.echo(f"  source    {_line(finding.source)}")
    click.echo(f"  fix       {HINTS.get(finding.check, 'Correct it.')}")


def _where(finding: Finding, paths: Mapping[str, str]) -> str:
    return f"{_line(paths.get(finding.file, finding.file))}:{finding.line}"


def _line(text: str) -> str:
    return neutral(one_line(text, LONGEST))


def _summary(counts: Mapping[str, Any]) -> str:
    told = ", ".join(
        f"{name} {counts[name][VERIFIED]:,} verified"
        + "".join(
            f", {counts[name][status]:,} {status}"
            for status in (CONTRADICTED, UNVERIFIABLE)
            if counts[name][status]
        )
        if name == "numbers"
        else f"{name} {counts[name][VERIFIED]:,} of {sum(counts[name].values()):,}"
        for name in ("numbers", "citations", "claims", "consistency", "sidecar", "redactions")
        if sum(counts[name].values())
    )
    share = counts["share_unverifiable"]
    unknown = "" if share is None else f"; {100 * share:.1f}% of numbers unverifiable"
    verdict = "contradicted" if counts[CONTRADICTED] else "no contradiction"
    told = told or "nothing to verify"
    return f"{verdict}: {told}{unknown}"
