"""Series of checkpoints: the runs in order, then what was learned and lost along them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from pipeline.answers.names import Row
from pipeline.cli.options import command
from pipeline.cli.page import counted, heading, labelled, percent, print_next, print_table
from pipeline.report.wording import rounded
from pipeline.text import one_line

BLOCKS = "▁▂▃▄▅▆▇█"
NO_SERIES = (
    "No series of checkpoints: three or more runs of one benchmark whose names differ only by the "
    "number of a step, ckpt, checkpoint, iter or epoch, or whose configs say such a step."
)
UNSETTLED = "No task can be called learned or forgotten: nothing says which reward is a pass."
NOTHING_SHARED = "No task is scored by every run of the series: none can be followed along it."
NOISE = (
    "learned: no pass in the first run, half or more in the last; forgotten: the other way round. "
    "Noise alone is what as many passes would make of it, dealt to the runs at random."
)


def print_series(series: list[Row], warehouse: Path) -> None:
    """A section per series: its runs along it, how many tasks turned, and which most clearly."""
    if not series:
        click.echo(labelled("", NO_SERIES))
    for number, one in enumerate(series):
        click.echo("" if number == 0 else "\n", nl=False)
        name = click.style(one_line(one["series"]), bold=True)
        click.echo(f"{name}  {one['n_runs']:,} runs of {one_line(one['benchmark'])}")
        _print_runs(one["runs"])
        _print_turns(one)
    if any(one["n_learned"] is not None for one in series):
        click.echo("\n" + labelled("", NOISE))
    # The first task that turned, in the run where it fails.
    turned = [
        one[turn][0][end]
        for one in series
        for turn, end in (("forgotten", "last_citation"), ("learned", "first_citation"))
        if one[turn]
    ]
    print_next(command("why", citation, warehouse) for citation in turned[:1])


def _print_runs(runs: list[Row]) -> None:
    """The runs along the series; rewards where they say more than passes do."""

    def cells(name: str, said: Callable[[float], Any] = lambda value: value) -> list[Any]:
        return [None if run[name] is None else said(run[name]) for run in runs]

    # A whole number where it is one: long ones would lose digits.
    steps = cells("step", lambda step: int(step) if step.is_integer() else step)
    columns = [("run", cells("run_id")), ("step", steps), ("tasks", cells("n_tasks"))]
    if any(run["pass_at_1"] is not None for run in runs):
        columns.append(("pass@1", cells("pass_at_1", percent)))
        columns.append(("on shared tasks", cells("common_pass_at_1", percent)))
        columns.append(("change", cells("change", _points)))
    if any(rounded(run["mean_reward"]) != rounded(run["pass_at_1"]) for run in runs):
        columns.append(("mean reward", cells("mean_reward")))
        columns.append(("on shared tasks", cells("common_mean_reward")))
        columns.append(("change", cells("reward_change")))
    print_table([name for name, _ in columns], zip(*(column for _, column in columns), strict=True))


def _print_turns(one: Row) -> None:
    if one["n_learned"] is None:
        click.echo("\n" + labelled("", UNSETTLED if one["n_common_tasks"] else NOTHING_SHARED))
        return
    whole = f" of {one['n_common_tasks']:,} tasks that every run scored"
    for turn, rest in (("learned", whole), ("forgotten", "")):
        n_tasks, noise = one[f"n_{turn}"], one[f"expected_{turn}"]
        click.echo(
            heading(f"{turn} {counted(n_tasks, 'task')}") + f" (noise alone: {noise:.1f}){rest}"
        )
        _print_tasks(one[turn])
        if n_more := n_tasks - len(one[turn]):
            query = f"from series_tasks where is_{turn}"
            click.echo(f"and {n_more:,} more: blade sql lists them, {query}")
    click.echo(
        heading(f"rising {one['n_rising']:,}, falling {one['n_falling']:,}")
        + f" (at q < 5%, of {one['n_tested']:,} tasks that neither always nor never passed)"
    )
    # Those that were learned or forgotten stand above.
    for turn in ("rising", "falling"):
        if one[turn]:
            click.echo(f"{turn}, but neither learned nor forgotten")
            _print_tasks(one[turn])


def _print_tasks(tasks: list[Row]) -> None:
    cells = []
    for task in tasks:
        ends = (f"{task['n_passed'][end]}/{task['n_scored'][end]}" for end in (0, -1))
        slope = None if task["slope"] is None else _points(task["slope"])
        q_value = None if task["q_value"] is None else f"{task['q_value']:.2g}"
        cells.append((task["task_id"], sparkline(task["rates"]), *ends, slope, q_value))
    if tasks:
        print_table(("task", "along", "first", "last", "points per run", "q"), cells)


def sparkline(rates: Sequence[float]) -> str:
    """Rates as blocks: the lowest is 0, the highest 1, and only those two are."""
    last = len(BLOCKS) - 1
    levels = (min(max(round(rate * last), rate > 0), last - (rate < 1)) for rate in rates)
    return "".join(BLOCKS[level] for level in levels)


def _points(change: float) -> str:
    """A change in percentage points; what rounds to nothing has no sign."""
    said = f"{100 * change:+.1f}"
    return said if float(said) else "0.0"
