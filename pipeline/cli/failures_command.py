"""blade failures: the ways in which runs fail, the commonest first."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.cli.options import json_option, warehouse_option
from pipeline.text import json_text


@click.command()
@click.argument("run", required=False)
@click.option(
    "--limit",
    type=click.IntRange(1),
    help="Most modes and errors listed for each run.  [default: 12 and 5; --json: all modes]",
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
    from pipeline.cli.failures_content import failures as read
    from pipeline.cli.failures_page import print_failures
    from pipeline.warehouse import open_warehouse

    with open_warehouse(warehouse) as opened:
        runs = read(opened, run, limit=limit)
    if as_json:
        click.echo(json_text({"runs": runs}, indent=2))
    else:
        print_failures(runs, warehouse, limit=limit)
