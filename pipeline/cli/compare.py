"""Show what changed between runs, how certainly, and why."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import click
from click.core import ParameterSource

from .. import report
from ..answers import comparisons, gate
from ..answers.names import Row, find_run, run_names
from ..errors import LONGEST_NAME, UsageError
from ..report import Comparison, sentences, wording
from ..report.comparisons import Change, Ledger, leading
from ..report.figures import Figure
from ..report.figures import Row as FigureRow
from ..text import json_text, one_line
from ..warehouse import open_warehouse
from .completion import complete_run
from .gates import gate_page, print_gate
from .options import (
    PATH,
    Number,
    analyzed,
    command,
    format_option,
    joined,
    json_option,
    link_option,
    warehouse_option,
    where,
)
from .page import print_next
from .terminal import PLAIN, print_page, show_aliases, shown_aliases

# How many candidates are printed in full; the others have a row of a table.
MOST_WHOLE = 3
MOST_FLIPS = 3
# Statements that only --full prints.
HIDDEN = ("verdict", "same tasks", "why")
BLOCKS = "▁▂▃▄▅▆▇█"


@click.command()
@click.argument(
    "runs", nargs=-1, metavar="[BASE] [CANDIDATE]... [RESULTS]", shell_complete=complete_run
)
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
@format_option
@link_option
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
    link: str,
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
            with open_warehouse(path) as opened:
                show_aliases(opened)
            print_series(comparisons.series(path, names), path, as_json=as_json)
            return
        if rerun is not None:
            with open_warehouse(path) as opened:
                rerun = find_run(opened, rerun)["run_id"]
        opened, compared = stack.enter_context(
            comparisons.compared(path, names, margin=margin, rerun=rerun)
        )
        show_aliases(opened)
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
        content = comparisons.objects(compared)
        if policy:
            content["gates"] = gates
        if false_alarms:
            content["false_alarms"] = alarms
        click.echo(json_text(content, indent=2))
    elif format_ == "markdown":
        decided = gate.with_verdicts(compared, gates)
        text = report.markdown.comparison_page(
            decided, opening=gate_page(gates), link=link, aliases=shown_aliases()
        )
        click.echo(text, nl=False)
    else:
        print_gate(gates)
        _print_comparisons(gate.with_verdicts(compared, gates), is_full=full)
        print_page("alarms", alarms=alarms)
        # What was analyzed for this comparison alone is gone.
        is_kept = path.exists()
        if is_kept and (commands := _next_commands(compared, path, is_full=full)):
            click.echo()
            print_next(commands)
    sys.exit(gate.exit_code(gates))


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


def _print_comparisons(compared: Sequence[Comparison], *, is_full: bool) -> None:
    """Print one candidate in full, and several as a table."""
    named = [each for each in compared if each.is_named]

    def ledgers(change: Change) -> list[Ledger]:
        if is_full:
            return [each for each in change.ledgers if each.lines]
        return [each for each in _leading(change) if each.page]

    print_page(
        "compare",
        named=named,
        others=[each for each in compared if not each.is_named],
        whole=leading(named)[:MOST_WHOLE],
        is_full=is_full,
        left_out=HIDDEN[: 1 if is_full else None],
        most_flips=MOST_FLIPS if is_full else 1,
        verdict=PLAIN.says("verdict"),
        statements=PLAIN.statements,
        line_name=PLAIN.says("line_name"),
        unlike=PLAIN.says("unlike"),
        ledgers=ledgers,
        moved=PLAIN.change,
        difference=PLAIN.bare,
        interval=_interval,
        level=_level,
        transitions=_transitions,
    )


def _next_commands(compared: Sequence[Comparison], warehouse: Path, *, is_full: bool) -> list[str]:
    """Commands for the task that changed most, for the full comparison, or to name a base."""
    named = leading([each for each in compared if each.is_named])[:1]
    commands = []
    for each in named:
        tasks = [task.task_id for task in [*each.lead.losses, *each.lead.gains]]
        commands += [command("why", f"{each.candidate}/{name}", warehouse) for name in tasks[:1]]
        if not is_full and each.lead.ledgers:
            pair = joined(["blade", "compare", each.base, each.candidate, "--full"])
            commands.append(f"{pair}{where(warehouse)}")
    return commands or [
        command("compare", each.base, warehouse) for each in compared[:1] if not named
    ]


def _interval(change: Change, row: FigureRow, name: str) -> str:
    low, high = (row[f"{name}_{end}"] for end in ("low", "high"))
    if low.value is None or high.value is None:
        return "n/a"
    return f"{PLAIN.bare(change, low)} to {PLAIN.bare(change, high)}"


def _level(change: Change, figure: Figure) -> str | float | None:
    """The figure of a run; rewards as numbers, which tables align right."""
    if change.metric == "pass_at_1":
        return PLAIN.pct(figure)
    return None if figure.value is None else round(float(figure.value), 4)


def _leading(change: Change) -> list[Ledger]:
    """The most informative ledgers: tasks of one run only, modes, and the widest slice."""
    chosen = [
        ledger
        for name in ("task mix", "failure modes")
        for ledger in change.ledger(name)
        if len(ledger.lines) > 1
    ]
    return [*chosen, *sentences.widest(change.ledger("slices"))]


def _transitions(comparison: Comparison, before: str, buckets: Sequence[str]) -> list[str]:
    """Counts of tasks of one bucket by their new bucket, with those by noise in brackets."""
    cells = {
        (each.bucket_before, each.bucket_after): (
            f"{each.n_tasks.value:,} ({each.n_tasks_by_noise.value:.1f})"
        )
        for each in comparison.transitions
    }
    return [cells[before, after] for after in buckets]


def print_series(series: list[Row], warehouse: Path, *, as_json: bool = False) -> None:
    content = {"series": series} if as_json else None
    print_page("series", json=content, series=series, moved=_points, sparkline=_sparkline)
    # The first task that changed, in the run that fails it.
    turned = [
        one[turn][0][end]
        for one in series
        for turn, end in (("forgotten", "last_citation"), ("learned", "first_citation"))
        if one[turn]
    ]
    print_next(command("why", citation, warehouse) for citation in turned[:1] if not as_json)


def _sparkline(rates: Sequence[float]) -> str:
    """Rates as blocks: only 0 has the lowest block, only 1 the highest."""
    last = len(BLOCKS) - 1
    levels = (min(max(round(rate * last), rate > 0), last - (rate < 1)) for rate in rates)
    return "".join(BLOCKS[level] for level in levels)


def _points(change: float | None) -> str | None:
    """A change in percentage points; zero has no sign."""
    if change is None:
        return None
    return wording.points(change) if change else "0.0"
