"""What matters most, at the end of an analysis: a numbered sentence each, and where to look."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Any

import click

from pipeline.cli.compare_voice import PLAIN
from pipeline.cli.paragraphs import heading, labelled
from pipeline.report import findings
from pipeline.report.figures import Row
from pipeline.text import neutral

MOST = 3
DIFFERING = "from reported_checks where status = 'differs'"
# The event of a citation: why tells of attempts.
EVENT = re.compile(r"#[0-9]+$")


def print_findings(told: Sequence[Row], where: str) -> None:
    """The first of them; `where` completes a command."""
    if not told:
        return
    click.echo(heading("What matters most"))
    for number, row in enumerate(told[:MOST], start=1):
        click.echo(labelled(f"{number}.", findings.sentence(row, PLAIN)))
        words = command(row)
        if words:
            click.echo(f"    blade {neutral(shlex.join(words))}{where}")
    click.echo()


def command(row: Row) -> list[str]:
    """What to run to see more of a finding; nothing where its sentence says what to do."""
    name, example = row.run_id, row.example
    if row.kind == "change":
        return ["compare", row.base, name]
    if row.kind == "reported":
        return ["sql", DIFFERING]
    if row.kind in ("unscored", "missing", "unhealthy", "unknown"):
        return ["health", name]
    if row.kind == "unsettled":
        return []
    if row.kind == "intervention" or not isinstance(example, str):
        return ["failures", name]
    return ["why", EVENT.sub("", example)]


def finding_objects(told: Sequence[Row]) -> list[dict[str, Any]]:
    """All of them, for a program."""
    return [
        {
            "kind": row.kind,
            "run_id": row.run_id,
            "stake": row.stake.value,
            "sentence": findings.sentence(row, PLAIN),
            "example": row.values["example"],
        }
        for row in told
    ]
