"""blade compare: why did the score change, and is it more than noise?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from pipeline.cli.options import DEFAULT_WAREHOUSE, json_option
from pipeline.errors import UsageError
from pipeline.text import json_text, one_line

if TYPE_CHECKING:
    from pipeline.run import Pair
    from pipeline.warehouse import Warehouse

DEFAULT_MARGIN = 0.02
METRICS = ("pass_at_1", "mean_reward")


@click.command()
@click.argument("runs", nargs=-1, metavar="[BASE] [CANDIDATE]... [RESULTS]")
@click.option(
    "--warehouse",
    type=click.Path(path_type=Path),
    help=f"The file that blade analyze wrote.  [default: {DEFAULT_WAREHOUSE}]",
)
@click.option(
    "--metric",
    type=click.Choice(METRICS),
    help="Tell the change by this metric alone.  [default: by each that says more]",
)
@click.option(
    "--margin",
    type=click.FloatRange(min=0),
    default=DEFAULT_MARGIN,
    show_default=True,
    help="A change smaller than this is none: 0.02 is two points of pass@1.",
)
@click.option(
    "--policy",
    type=click.Path(path_type=Path),
    help="Decide by this policy.toml; exit 0 only for PASS and WARN.",
)
@click.option(
    "--false-alarms", is_flag=True, help="How often the rule would fire if nothing had changed."
)
@click.option(
    "--rerun", metavar="RUN", help="A second run of the base, for --false-alarms to go by."
)
@click.option("--series", is_flag=True, help="Take the runs in this order as checkpoints.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(("text", "json", "markdown")),
    default="text",
    show_default=True,
    help="For people, for a program, or for a page.",
)
@json_option
def compare(
    runs: tuple[str, ...],
    warehouse: Path | None,
    metric: str | None,
    margin: float,
    policy: Path | None,
    false_alarms: bool,
    rerun: str | None,
    series: bool,
    format_: str,
    as_json: bool,
) -> None:
    """Hold one or more runs against a base: what changed, by how much, how surely, and why.

    With no run named all runs are set beside each other, without a verdict; with the base alone
    every other run of its benchmark is held against it. RESULTS, a folder or file given last, is
    analyzed first.

    \b
    Examples:
      blade compare
      blade compare office_desk_aster-8b office_desk_birch-70b
      blade compare base candidate results/ --policy policy.toml
      blade compare base candidate --json --warehouse compared/warehouse.duckdb
      blade compare --series step_500 step_1000 step_1500
    """
    from pipeline import report
    from pipeline.cli.compare_page import print_comparisons
    from pipeline.cli.compare_runs import compared, located

    as_json = as_json or format_ == "json"
    with ExitStack() as stack:
        path, names = located(stack, runs, warehouse)
        opened, found = stack.enter_context(compared(path, names, margin=margin, rerun=rerun))
        found = [_by(each, metric) for each in found]
    if as_json:
        click.echo(json_text({"comparisons": report.comparison_json.objects(found)}, indent=2))
    elif format_ == "markdown":
        click.echo(report.markdown.comparison_page(found), nl=False)
    else:
        print_comparisons(found, path, is_named=bool(names))


def _by(comparison, metric):
    return comparison
