"""blade compare: why the score changed, and whether that is more than noise."""

from __future__ import annotations

import math
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.cli.options import DEFAULT_WAREHOUSE, PATH, json_option
from pipeline.errors import UsageError
from pipeline.text import json_text

if TYPE_CHECKING:
    from pipeline.report import Comparison

DEFAULT_MARGIN = 0.02
METRICS = ("pass_at_1", "mean_reward")


@click.command()
@click.argument("runs", nargs=-1, metavar="[BASE] [CANDIDATE]... [RESULTS]")
@click.option(
    "--warehouse",
    type=PATH,
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
    "--policy", type=PATH, help="Decide by this policy.toml; exit 0 only for PASS and WARN."
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
@click.option("--full", is_flag=True, help="Print every ledger, and every line of it.")
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
    full: bool,
    as_json: bool,
) -> None:
    """Hold one or more runs against a base: what changed, by how much, how surely, and why.

    With no run named the baseline of the analysis counts; where it had none, all runs are set
    beside each other, without a verdict. With the base alone every other run of its benchmark is
    held against it. RESULTS, a folder or file given last, is analyzed first.

    \b
    Examples:
      blade compare
      blade compare office_desk_aster-8b office_desk_birch-70b
      blade compare base candidate results/ --policy policy.toml
      blade compare base candidate --json --warehouse compared/warehouse.duckdb
      blade compare --series step_500 step_1000 step_1500
    """
    as_json = as_json or format_ == "json"
    if rerun is not None and not false_alarms:
        raise UsageError("--rerun: only --false-alarms goes by it.", hint="Add --false-alarms.")
    if not math.isfinite(margin):
        raise UsageError(f"--margin {margin}: no change can be held against it.")
    if format_ == "markdown" and not as_json and (policy is not None or false_alarms):
        raise UsageError(
            "--format markdown: the page has no place for a policy or for false alarms.",
            hint="Print text or JSON.",
        )
    if series:
        others = {"--metric": metric, "--policy": policy, "--false-alarms": false_alarms}
        others |= {"--full": full, "--format markdown": format_ == "markdown"}
        for name in (name for name, value in others.items() if value):
            raise UsageError(
                f"--series and {name}: a series has neither verdict nor ledgers.",
                hint="Leave one out; two checkpoints are compared by: blade compare BASE CANDIDATE",
            )
        _follow(runs, warehouse, as_json=as_json)
        return
    from pipeline import report
    from pipeline.cli import compare_gate
    from pipeline.cli.compare_page import print_comparisons
    from pipeline.cli.compare_runs import compared, located
    from pipeline.profile import gate

    with ExitStack() as stack:
        path, names = located(stack, runs, warehouse)
        opened, found = stack.enter_context(compared(path, names, margin=margin, rerun=rerun))
        found = _by(found, metric, is_asked=bool(names))
        named = [each for each in found if each.is_named]
        if not named and (policy is not None or false_alarms):
            raise UsageError(
                "no base is named, and without one nothing can be decided.",
                hint="For example: blade compare BASE CANDIDATE --policy policy.toml",
            )
        gates = compare_gate.gates(opened, policy, named) if policy is not None else ()
        alarms = [
            compare_gate.noise(opened, each, gates, margin=margin, rerun=rerun)
            for each in (named if false_alarms else [])
        ]
    if as_json:
        content: dict[str, Any] = {"comparisons": report.comparison_json.objects(found)}
        content |= {"gates": [gate.as_row(each) for each in gates]} if policy else {}
        content |= {"false_alarms": alarms} if false_alarms else {}
        click.echo(json_text(content, indent=2))
    elif format_ == "markdown":
        click.echo(report.markdown.comparison_page(found), nl=False)
    else:
        compare_gate.print_gate(gates)
        print_comparisons(found, path, is_full=full)
        compare_gate.print_false_alarms(alarms)
    sys.exit(max((each.exit_code for each in gates), default=0))


def _follow(runs: tuple[str, ...], warehouse: Path | None, *, as_json: bool) -> None:
    """The series that the analysis found, or the one of the runs named."""
    from pipeline import run
    from pipeline.cli.compare_runs import benchmark_of_series, located
    from pipeline.cli.compare_series import print_series, series
    from pipeline.warehouse import open_warehouse

    with ExitStack() as stack:
        path, names = located(stack, runs, warehouse)
        opened = stack.enter_context(open_warehouse(path))
        if names:
            benchmark = benchmark_of_series(opened, names)
            opened = stack.enter_context(run.follow(path, names, benchmark=benchmark))
        found = series(opened)
    if as_json:
        click.echo(json_text({"series": found}, indent=2))
    else:
        print_series(found, path)


def _by(found: list[Comparison], metric: str | None, *, is_asked: bool) -> list[Comparison]:
    """The comparisons by one metric alone, where one is asked for and they have it."""
    chosen = [
        replace(each, changes=[one for one in each.changes if metric in (None, one.metric)])
        for each in found
    ]
    without = [each.candidate for each in chosen if not each.changes]
    if without and (is_asked or len(without) == len(chosen)):
        raise UsageError(
            f"{without[0]} cannot be compared by {metric}: what passes is not settled.",
            hint="Analyze again with --pass-threshold, or compare by mean_reward.",
        )
    return [each for each in chosen if each.changes]
