"""Series of checkpoints as a page for people: the runs in order, then what was learned and lost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from pipeline.cli.lookup import Row, command
from pipeline.cli.paragraphs import LONGEST_COMMAND, heading, labelled
from pipeline.cli.tables import print_table
from pipeline.report.digits import rounded
from pipeline.text import one_line

BLOCKS = "▁▂▃▄▅▆▇█"
LONGEST_NAME = 200
NO_SERIES = (
    "No series of checkpoints: three or more runs of one benchmark whose names differ only by the "
    "number of a step, ckpt, checkpoint, iter or epoch, or whose configs say such a step."
)
UNSETTLED = "No task can be called learned or forgotten: which reward is a pass is not settled."
NOTHING_SHARED = "No task is scored by every run of the series: none can be followed along it."
NOISE = (
    "learned: no pass in the first run, half or more in the last; forgotten: the other way round. "
    "Noise alone is what as many passes would make of it, dealt to the runs at random."
)


def print_series(series: list[Row], warehouse: Path) -> None:
    """A section a series: its runs along it, how many tasks turned, and which most clearly."""
    if not series:
        click.echo(labelled("", NO_SERIES))
        return
    for number, one in enumerate(series):
        click.echo("" if number == 0 else "\n", nl=False)
        name = click.style(one_line(one["series"], LONGEST_NAME), bold=True)
        click.echo(f"{name}  {one['n_runs']:,} runs of {one_line(one['benchmark'], LONGEST_NAME)}")
        _print_runs(one["runs"])
        _print_turns(one)
    if any(one["n_learned"] is not None for one in series):
        click.echo("\n" + labelled("", NOISE))
    for line in _next(series, warehouse):
        click.echo(labelled("next", line))


def _print_runs(runs: list[Row]) -> None:
    """The runs along the series; rewards where they say more than passes do."""
    is_settled = any(run["pass_at_1"] is not None for run in runs)
    is_graded = any(rounded(run["mean_reward"]) != rounded(run["pass_at_1"]) for run in runs)
    names = ["run", "step", "tasks"]
    cells: list[list[Any]] = [[run["run_id"], _whole(run["step"]), run["n_tasks"]] for run in runs]
    if is_settled:
        names += ["pass@1", "on shared tasks", "change"]
    if is_graded:
        names += ["mean reward", "on shared tasks", "change"]
    for run, row in zip(runs, cells, strict=True):
        if is_settled:
            row += [_percent(run["pass_at_1"]), _percent(run["common_pass_at_1"])]
            row.append(_points(run["change"]))
        if is_graded:
            row += [run["mean_reward"], run["common_mean_reward"], run["reward_change"]]
    print_table(names, cells)


def _print_turns(one: Row) -> None:
    if one["n_learned"] is None:
        said = UNSETTLED if one["n_common_tasks"] else NOTHING_SHARED
        click.echo("\n" + labelled("", said))
        return
    tasks = f"{one['n_common_tasks']:,} tasks that every run scored"
    _print_turn("learned", one, f"of {tasks}")
    _print_turn("forgotten", one, "")
    click.echo(
        heading(f"rising {one['n_rising']:,}, falling {one['n_falling']:,}")
        + f" (at q < 5%, of {one['n_tested']:,} tasks that neither always nor never passed)"
    )
    # Those that were learned or forgotten stand above.
    for turn in ("rising", "falling"):
        if one[turn]:
            click.echo(f"{turn}, but neither learned nor forgotten")
            _print_tasks(one[turn])


def _print_turn(turn: str, one: Row, rest: str) -> None:
    count, expected = one[f"n_{turn}"], one[f"expected_{turn}"]
    said = heading(f"{turn} {count:,} {'task' if count == 1 else 'tasks'}")
    click.echo(f"{said} (noise alone: {expected:.1f}) {rest}".rstrip())
    if one[turn]:
        _print_tasks(one[turn])
        n_more = count - len(one[turn])
        if n_more:
            click.echo(
                f"and {n_more:,} more: blade sql lists them, from series_tasks where is_{turn}"
            )


def _print_tasks(tasks: list[Row]) -> None:
    print_table(
        ("task", "along", "first", "last", "points a run", "q"),
        [
            (
                task["task_id"],
                sparkline(task["rates"]),
                _share(task, 0),
                _share(task, -1),
                _points(task["slope"]),
                None if task["q_value"] is None else f"{task['q_value']:.2g}",
            )
            for task in tasks
        ],
    )


def sparkline(rates: Sequence[float]) -> str:
    """Rates as blocks: the lowest is 0, the highest 1, and only those two are."""
    last = len(BLOCKS) - 1
    inner = [min(max(round(rate * last), 1), last - 1) for rate in rates]
    return "".join(
        BLOCKS[0 if rate == 0 else last if rate == 1 else level]
        for rate, level in zip(rates, inner, strict=True)
    )


def _whole(step: float | None) -> float | None:
    """A step as a whole number where it is one: long ones would lose digits."""
    return int(step) if step is not None and step.is_integer() else step


def _share(task: Row, end: int) -> str:
    return f"{task['n_passed'][end]}/{task['n_scored'][end]}"


def _percent(rate: float | None) -> str | None:
    return None if rate is None else f"{100 * rate:.1f}%"


def _points(change: float | None) -> str | None:
    """A change in percentage points; what rounds to nothing has no sign."""
    if change is None:
        return None
    said = f"{100 * change:+.1f}"
    return said if float(said) else "0.0"


def _next(series: list[Row], warehouse: Path) -> list[str]:
    """The first task that turned, in the run where it fails."""
    for one in series:
        for turn, end in (("forgotten", "last_citation"), ("learned", "first_citation")):
            if one[turn]:
                return [one_line(command("why", one[turn][0][end], warehouse), LONGEST_COMMAND)]
    return []
