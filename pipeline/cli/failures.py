"""Rank the failure modes of runs."""

from __future__ import annotations

from pathlib import Path

import click

from ..answers.names import Row
from ..answers.runs import ranked_failures
from ..text import json_text
from ..warehouse import open_warehouse
from .completion import complete_run
from .options import command, json_option, warehouse_option
from .page import print_next
from .terminal import print_page, show_aliases

MOST_MODES = 12
# With more runs, a table of them side by side is too wide.
ALIASES = "ABCDEF"


@click.command()
@click.argument("run", required=False, shell_complete=complete_run)
@click.option(
    "--limit",
    type=click.IntRange(1),
    metavar="N",
    help="List at most N modes, tools and errors.  [default: 12, 12 and 5; with --json all]",
)
@warehouse_option
@json_option
def failures(run: str | None, limit: int | None, warehouse: Path, as_json: bool) -> None:
    """List the failure modes of all runs, or of RUN, and how often each occurs in passes.

    \b
    Examples:
      blade failures
      blade failures office_desk_aster-8b --limit 30
      blade failures quick_math_aster-8b --json
    """
    with open_warehouse(warehouse) as opened:
        benchmarks = ranked_failures(opened, run, limit)
        show_aliases(opened)
    if as_json:
        click.echo(json_text({"benchmarks": benchmarks}, indent=2))
        return
    print_page(
        "failures",
        benchmarks=benchmarks,
        aliases=_aliases,
        beside=_counts_by_run,
        most=limit or MOST_MODES,
    )
    print_next(_next(benchmarks, warehouse))


def _aliases(runs: list[Row]) -> dict[str, str]:
    """A letter for each run, if several are shown side by side."""
    if not 1 < len(runs) <= len(ALIASES):
        return {}
    return {run["run_id"]: ALIASES[place] for place, run in enumerate(runs)}


def _counts_by_run(mode: Row, aliases: dict[str, str]) -> list[str]:
    counts = {run["run_id"]: f"{run['n_failures']}/{run['n_passes']}" for run in mode["runs"]}
    return [counts.get(run_id, "0/0") for run_id in aliases]


def _next(benchmarks: list[Row], warehouse: Path) -> list[str]:
    citations = [
        citation
        for each in benchmarks
        for mode in [*each["modes"], each["no_shared_sign"]]
        if mode
        for citation in mode["failing_citations"][:1]
    ]
    failing_runs = [
        run["run_id"] for each in benchmarks for run in each["runs"] if run["n_not_passed"]
    ]
    commands = [
        command("failures", name, warehouse) for name in failing_runs[:1] if len(failing_runs) > 1
    ]
    for citation in citations[:1]:
        attempt = citation.partition("#")[0] if "#" in citation else citation
        commands.append(command("why", attempt, warehouse))
        commands.append(command("show", citation, warehouse))
    return commands
