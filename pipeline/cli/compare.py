"""blade compare: why the score changed, and whether that is more than noise."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from pipeline import report, run
from pipeline.cli import compare_gate, compare_series
from pipeline.cli.compare_page import next_commands, print_comparisons
from pipeline.cli.lookup import column, find_run, run_names
from pipeline.cli.options import PATH, Number, analyzed, json_option, warehouse_option
from pipeline.cli.page import print_next
from pipeline.errors import LONGEST_NAME, UsageError, listed
from pipeline.report import Comparison
from pipeline.text import json_text, one_line
from pipeline.warehouse import Warehouse, open_warehouse

FEWEST_CHECKPOINTS = 3
MARGIN = 0.02
OTHERS = "select run_id from staging.run_order where benchmark = ? and run_id <> ? order by place"


@click.command()
@click.argument("runs", nargs=-1, metavar="[BASE] [CANDIDATE]... [RESULTS]")
@warehouse_option
@click.option(
    "--metric",
    type=click.Choice(("pass_at_1", "mean_reward")),
    help="Compare by this metric alone.  [default: by each that adds something]",
)
@click.option(
    "--margin",
    type=Number(min=0),
    default=MARGIN,
    help="A change smaller than this is none: 0.02 is two points of pass@1.",
)
@click.option(
    "--policy", type=PATH, help="Decide by this policy.toml; exit 0 only for PASS and WARN."
)
@click.option(
    "--false-alarms", is_flag=True, help="How often the rule would fire if nothing had changed."
)
@click.option("--rerun", metavar="RUN", help="A second run of the base, for --false-alarms to use.")
@click.option("--series", is_flag=True, help="Take the runs in this order as checkpoints.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(("text", "json", "markdown")),
    default="text",
    help="For people, for a program, or for a page.",
)
@click.option("--link", metavar="URL", help="Where the whole report is, for a page to link to.")
@click.option("--full", is_flag=True, help="Print every ledger and line, and other metrics.")
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
    """Compare one or more runs with a base: what changed, by how much, how surely, and why.

    With no run named the baseline of the analysis is used; where it had none, all runs are
    compared with each other, without a verdict. With the base alone every other run of its
    benchmark is compared with it. RESULTS, a folder or file given last, is analyzed first.

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
        raise UsageError("--rerun: only --false-alarms uses it.", hint="Add --false-alarms.")
    if not math.isfinite(margin):
        raise UsageError(f"--margin {margin}: no change can be compared with it.")
    if format_ == "markdown" and not as_json and false_alarms:
        message = "--format markdown: the page has no place for false alarms."
        raise UsageError(message, hint="Print text or JSON.")
    if link and not re.fullmatch(r"https?://[!#-&*-;=?-Z_a-z~]+", link):
        hint = "Give one that begins with https://, spaces and brackets as %20 and the like."
        raise UsageError(f"--link {one_line(link)}: no address for a page to link to.", hint=hint)
    if series:
        others = {"--metric": metric, "--policy": policy, "--false-alarms": false_alarms}
        others |= {"--full": full, "--format markdown": format_ == "markdown"}
        for name in (name for name, value in others.items() if value):
            hint = "Leave one out; two checkpoints are compared by: blade compare BASE CANDIDATE"
            message = f"--series and {name}: a series has neither verdict nor ledgers."
            raise UsageError(message, hint=hint)
        _follow(runs, warehouse, as_json=as_json)
        return
    with ExitStack() as stack:
        path, names = _located(stack, runs, warehouse)
        if rerun is not None:
            with open_warehouse(path) as opened:
                rerun = find_run(opened, rerun)["run_id"]
        opened, found = stack.enter_context(compared(path, names, margin=margin, rerun=rerun))
        found = by_metric(found, metric, is_asked=bool(names))
        named = [each for each in found if each.is_named]
        if not named and (policy is not None or false_alarms):
            hint = "For example: blade compare BASE CANDIDATE --policy policy.toml"
            message = "no base is named, and without one nothing can be decided."
            raise UsageError(message, hint=hint)
        gates = compare_gate.gates(opened, policy, named) if policy is not None else []
        alarms = [
            compare_gate.noise(opened, each, gates, margin=margin, rerun=rerun)
            for each in (named if false_alarms else [])
        ]
    if as_json:
        content: dict[str, Any] = {"comparisons": report.comparison_json.objects(found)}
        content |= {"gates": gates} if policy else {}
        content |= {"false_alarms": alarms} if false_alarms else {}
        click.echo(json_text(content, indent=2))
    elif format_ == "markdown":
        opening = compare_gate.gate_page(gates)
        page = report.markdown.comparison_page(found, opening=opening, link=link or "")
        click.echo(page, nl=False)
    else:
        compare_gate.print_gate(gates)
        print_comparisons(found, is_full=full)
        compare_gate.print_false_alarms(alarms)
        if commands := next_commands(found, path, is_full=full):
            click.echo()
            print_next(commands)
    # One that fails goes before one that is not decided.
    codes = {each["exit_code"] for each in gates}
    sys.exit(1 if 1 in codes else max(codes, default=0))


def _follow(words: Sequence[str], warehouse: Path, *, as_json: bool) -> None:
    """The series that the analysis found, or the one of the runs named."""
    with ExitStack() as stack:
        path, names = _located(stack, words, warehouse)
        opened = stack.enter_context(open_warehouse(path))
        if names:
            names, benchmark = _series(opened, names)
            opened = stack.enter_context(run.follow(path, names, benchmark=benchmark))
        found = compare_series.series(opened)
    if as_json:
        click.echo(json_text({"series": found}, indent=2))
    else:
        compare_series.print_series(found, path)


def by_metric(found: list[Comparison], metric: str | None, *, is_asked: bool) -> list[Comparison]:
    """The comparisons by one metric alone, where one is asked for and they have it."""
    chosen = [
        replace(each, changes=[one for one in each.changes if metric in (None, one.metric)])
        for each in found
    ]
    without = [each.candidate for each in chosen if not each.changes]
    if without and (is_asked or len(without) == len(chosen)):
        raise UsageError(
            f"{without[0]} cannot be compared by {metric}: nothing says which reward passes.",
            hint="Analyze again with --pass-threshold, or compare by mean_reward.",
        )
    return [each for each in chosen if each.changes]


def _located(stack: ExitStack, words: Sequence[str], warehouse: Path) -> tuple[Path, list[str]]:
    """The warehouse, and the runs named; results given last are analyzed for the occasion."""
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
    """Is it a path that is there? A run of that name goes first: folders are named after runs."""
    try:
        if not word or not Path(word).exists():
            return False
    except OSError:  # longer than any path
        return False
    if Path(word).name != word or not warehouse.is_file():
        return True
    with open_warehouse(warehouse) as opened:
        return word not in run_names(opened)


@contextmanager
def compared(
    path: Path, names: Sequence[str], *, margin: float, rerun: str | None
) -> Iterator[tuple[Warehouse, list[Comparison]]]:
    """The comparisons asked for: of the runs named, or all that the analysis made."""
    with open_warehouse(path) as opened:
        made = [] if names else report.comparisons(opened)
        named = [(each.benchmark, each.base, each.candidate) for each in made if each.is_named]
        pairs = [
            run.Pair(*pair, is_named=True, margin=margin)
            for pair in (_asked(opened, names) if names else named)
        ]
        if not pairs:
            yield opened, made
            return
    again = [] if rerun is None else _again(pairs, rerun)
    with run.compare(path, [*pairs, *again]) as overlaid:
        wanted = {(pair.base, pair.candidate) for pair in pairs}
        found = report.comparisons(overlaid)
        chosen = [each for each in found if (each.base, each.candidate) in wanted]
        yield overlaid, [*chosen, *(each for each in made if not each.is_named)]


def _asked(opened: Warehouse, words: Sequence[str]) -> list[tuple[str, str, str]]:
    first = find_run(opened, words[0])
    base, benchmark = first["run_id"], first["benchmark"]
    named = [find_run(opened, word, within=benchmark)["run_id"] for word in words[1:]]
    candidates = named or column(opened, OTHERS, benchmark, base)
    if not candidates:
        raise UsageError(
            f"{one_line(base, LONGEST_NAME)} is the only run of its benchmark.",
            hint=f"Name a candidate. Runs: {listed(run_names(opened))}",
        )
    _check_once([base, *named])
    return [(benchmark, base, candidate) for candidate in candidates]


def _again(pairs: Sequence[run.Pair], rerun: str) -> list[run.Pair]:
    """The base and its rerun, unless they are compared anyway; no candidate, so no verdict."""
    base, *others = dict.fromkeys(pair.base for pair in pairs)
    if others:
        raise UsageError(
            f"--rerun: of which base? There are {listed([base, *others])}.",
            hint="Name the base: blade compare BASE --false-alarms --rerun RUN",
        )
    if rerun == base:
        raise UsageError(
            f"--rerun {one_line(rerun, LONGEST_NAME)}: that is the base itself.",
            hint="Name another run of the same model on the same tasks.",
        )
    if rerun in {pair.candidate for pair in pairs}:
        return []
    return [replace(pairs[0], candidate=rerun, is_named=False)]


def _series(opened: Warehouse, words: Sequence[str]) -> tuple[list[str], str]:
    """The runs named as checkpoints, in their order, and the benchmark of all of them."""
    if len(words) < FEWEST_CHECKPOINTS:
        hint = "Name them in the order of training."
        raise UsageError("a series is three runs or more.", hint=hint)
    found = [find_run(opened, word) for word in words]
    names = [run["run_id"] for run in found]
    _check_once(names)
    benchmarks = sorted({run["benchmark"] for run in found})
    if len(benchmarks) > 1:
        message = f"these are runs of several benchmarks: {listed(benchmarks)}."
        raise UsageError(message, hint="A series follows tasks of one benchmark.")
    return names, benchmarks[0]


def _check_once(names: Sequence[str]) -> None:
    if twice := sorted({name for name in names if list(names).count(name) > 1}):
        hint = "A run is not compared with itself."
        raise UsageError(f"{listed(twice)}: named twice.", hint=hint)
