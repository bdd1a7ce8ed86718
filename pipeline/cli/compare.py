"""blade compare: why the score changed, and whether that is more than noise."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from pipeline import report
from pipeline.answers import comparisons, gate
from pipeline.answers.names import find_run, run_names
from pipeline.cli import compare_page
from pipeline.cli.options import PATH, Number, analyzed, json_option, warehouse_option
from pipeline.cli.page import print_next
from pipeline.cli.terminal import print_page
from pipeline.errors import LONGEST_NAME, UsageError
from pipeline.text import json_text, one_line
from pipeline.warehouse import open_warehouse


@click.command()
@click.argument("runs", nargs=-1, metavar="[BASE] [CANDIDATE]... [RESULTS]")
@warehouse_option
@click.option(
    "--metric",
    type=click.Choice(("pass_at_1", "mean_reward")),
    help="Compare only this metric.  [default: both, where they differ]",
)
@click.option(
    "--margin",
    type=Number(min=0),
    default=comparisons.MARGIN,
    help="Smallest change that counts: 0.02 is two points of pass@1.",
)
@click.option(
    "--policy",
    type=PATH,
    help="Decide by this policy.toml. The exit code is 0 only for PASS and WARN.",
)
@click.option(
    "--false-alarms",
    is_flag=True,
    help="Estimate how often the decision rule fires when nothing has changed.",
)
@click.option("--rerun", metavar="RUN", help="With --false-alarms: a second run of the base.")
@click.option(
    "--series", is_flag=True, help="Treat the runs, in this order, as checkpoints of one model."
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(("text", "json", "markdown")),
    default="text",
    help="Output format.",
)
@click.option(
    "--link", metavar="URL", help="With --format markdown: address of the full report, to link to."
)
@click.option(
    "--full", is_flag=True, help="Print all ledgers with all their lines, and all metrics."
)
@json_option
def compare(
    runs: tuple[str, ...],
    warehouse: Path,
    metric: str | None,
    margin: float,
    policy: Path | None,
    false_alarms: bool,
    rerun: str | None,
    series: bool,
    format_: str,
    link: str | None,
    full: bool,
    as_json: bool,
) -> None:
    """Compare one or more runs with a base run: what changed, how certainly, and why.

    Without arguments, the baseline of the analysis is the base. If the analysis had no baseline,
    all runs are compared with each other, without verdicts. With BASE alone, all other runs of its
    benchmark are compared with it. If the last argument is a folder or file of results, it is
    analyzed first.

    \b
    Examples:
      blade compare
      blade compare office_desk_aster-8b office_desk_birch-70b
      blade compare base candidate results/ --policy policy.toml
      blade compare base candidate --format markdown > comment.md
      blade compare base candidate --json --warehouse compared
      blade compare --series step_500 step_1000 step_1500
    """
    as_json = as_json or format_ == "json"
    if rerun is not None and not false_alarms:
        raise UsageError("--rerun needs --false-alarms.", hint="Add --false-alarms.")
    if format_ == "markdown" and not as_json and false_alarms:
        message = "--format markdown and --false-alarms cannot be combined."
        raise UsageError(message, hint="Use --format text or json.")
    if link and not re.fullmatch(r"https?://[!#-&*-;=?-Z_a-z~]+", link):
        hint = "Begin with https:// and write special characters as %20 and so on."
        raise UsageError(f"--link {one_line(link)}: not a URL that a page can link to.", hint=hint)
    if series:
        others = {
            "--metric": metric,
            "--policy": policy,
            "--false-alarms": false_alarms,
            "--full": full,
            "--format markdown": format_ == "markdown",
        }
        for name in (name for name, value in others.items() if value):
            hint = "Leave one out; two checkpoints are compared by: blade compare BASE CANDIDATE"
            message = f"--series and {name}: a series has neither verdict nor ledgers."
            raise UsageError(message, hint=hint)
    with ExitStack() as stack:
        path, names = _located(stack, runs, warehouse)
        if series:
            compare_page.print_series(comparisons.series(path, names), path, as_json=as_json)
            return
        if rerun is not None:
            with open_warehouse(path) as opened:
                rerun = find_run(opened, rerun)["run_id"]
        opened, compared = stack.enter_context(
            comparisons.compared(path, names, margin=margin, rerun=rerun)
        )
        compared = comparisons.by_metric(compared, metric, is_named=bool(names))
        named = [each for each in compared if each.is_named]
        if not named and (policy is not None or false_alarms):
            hint = "For example: blade compare BASE CANDIDATE --policy policy.toml"
            message = "no base is named, which a decision needs."
            raise UsageError(message, hint=hint)
        gates = gate.gates(path, opened, policy, named) if policy is not None else []
        alarms = [
            comparisons.noise(opened, each, gates, margin=margin, rerun=rerun)
            for each in (named if false_alarms else [])
        ]
    if as_json:
        content: dict[str, Any] = {
            "comparisons": report.sidecar.comparison_objects(compared),
            "flip_signs": comparisons.flip_signs(compared),
        }
        if policy:
            content["gates"] = gates
        if false_alarms:
            content["false_alarms"] = alarms
        click.echo(json_text(content, indent=2))
    elif format_ == "markdown":
        page = report.markdown.comparison_page(
            gate.with_verdicts(compared, gates),
            opening=compare_page.gate_page(gates),
            link=link or "",
        )
        click.echo(page, nl=False)
    else:
        compare_page.print_gate(gates)
        compare_page.print_comparisons(gate.with_verdicts(compared, gates), is_full=full)
        print_page("alarms", alarms=alarms)
        if commands := compare_page.next_commands(compared, path, is_full=full):
            click.echo()
            print_next(commands)
    # FAIL comes before INCONCLUSIVE.
    codes = {each["exit_code"] for each in gates}
    sys.exit(1 if 1 in codes else max(codes, default=0))


def _located(stack: ExitStack, words: Sequence[str], warehouse: Path) -> tuple[Path, list[str]]:
    """The warehouse and the named runs; if the last word is a path, it is analyzed first."""
    if not words or not _is_results(words[-1], warehouse):
        return warehouse, list(words)
    *names, results = words
    if click.get_current_context().get_parameter_source("warehouse") is not ParameterSource.DEFAULT:
        raise UsageError(
            f"{one_line(results, LONGEST_NAME)} and --warehouse: one or the other.",
            hint="Name the runs and the results, or the runs and --warehouse.",
        )
    return stack.enter_context(analyzed(Path(results))).warehouse, names


def _is_results(word: str, warehouse: Path) -> bool:
    """Whether a word is an existing path; a run of that name comes first."""
    try:
        if not word or not Path(word).exists():
            return False
    except OSError:  # longer than any path
        return False
    if Path(word).name != word or not warehouse.is_file():
        return True
    with open_warehouse(warehouse) as opened:
        return word not in run_names(opened)
