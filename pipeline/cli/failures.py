"""blade failures: the ways in which runs fail, the commonest first."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.answers.runs import UNEXPLAINED, ranked_failures
from pipeline.cli.options import command, json_option, warehouse_option
from pipeline.cli.page import print_next
from pipeline.cli.terminal import print_page
from pipeline.text import json_text
from pipeline.warehouse import open_warehouse

MOST_MODES = 8
MOST_OF_MANY = 4


@click.command()
@click.argument("run", required=False)
@click.option(
    "--limit",
    type=click.IntRange(1),
    help="Most modes and errors listed for each run.  [default: 8 and 5; --json: all modes]",
)
@warehouse_option
@json_option
def failures(run: str | None, limit: int | None, warehouse: Path, as_json: bool) -> None:
    """Rank the failure modes of all runs, or of RUN, with an example of each.

    \b
    Examples:
      blade failures
      blade failures office_desk_aster-8b --limit 30
      blade failures quick_math_aster-8b --json
    """
    with open_warehouse(warehouse) as opened:
        runs = ranked_failures(opened, run, limit)
    if as_json:
        click.echo(json_text({"runs": runs}, indent=2))
        return
    is_brief = len(runs) > 1 and limit is None
    for each in runs:
        each["root_causes"].sort(key=lambda cause: cause["cause"] == UNEXPLAINED)
    most_modes = limit or (MOST_OF_MANY if is_brief else MOST_MODES)
    print_page("failures", runs=runs, is_brief=is_brief, most_modes=most_modes)
    shown = [
        command("show", mode["example"], warehouse)
        for each in runs
        for mode in each["modes"]
        if mode["is_example_recorded"]
    ]
    causes = [
        command("why", each["root_causes"][0]["example"], warehouse)
        for each in runs
        if each["root_causes"]
    ]
    whole = [command("failures", each["run_id"], warehouse) for each in runs if is_brief]
    print_next([*whole[:1], *causes[:1], *shown[:1]])
