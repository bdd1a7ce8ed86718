"""Series of checkpoints: the runs in order, then what was learned and lost along them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from pipeline.cli.lookup import Row, command, grouped, rows
from pipeline.cli.paragraphs import heading, inline, labelled, next_line
from pipeline.cli.tables import percent, print_table
from pipeline.report.digits import rounded
from pipeline.warehouse import Warehouse

BLOCKS = "▁▂▃▄▅▆▇█"
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
MOST_TASKS = 10
TURNS = ("learned", "forgotten", "rising", "falling")

RUNS = """
    select
        series, place, run_id, step, n_tasks, pass_at_1, mean_reward, n_common_tasks,
        common_pass_at_1, change, common_mean_reward, reward_change
    from series
    order by series, place
"""
# A task may be learned and rise: it is listed once, where more is said of it.
TASKS = """
    with turns as (
        select
            tasks.*,
            first_run_id || '/' || task_id as first_citation,
            last_run_id || '/' || task_id as last_citation,
            case
                when is_learned then 'learned'
                when is_forgotten then 'forgotten'
                when q_value < 0.05 and slope > 0 then 'rising'
                when q_value < 0.05 and slope < 0 then 'falling'
            end as turn,
            row_number() over (
                partition by series, turn
                order by p_value nulls last, abs(last_rate - first_rate) desc, task_id
            ) as place
        from series_tasks as tasks
        inner join series_counts using (series)
    )
    select
        series, turn, task_id, n_scored, n_passed, rates, slope, p_value, q_value,
        expected_learned, expected_forgotten, first_citation, last_citation
    from turns
    where turn is not null and place <= ?
    order by series, turn, place
"""


def series(warehouse: Warehouse) -> list[Row]:
    """Every series with its runs in order, its counts, and the clearest tasks of each kind."""
    runs = grouped(rows(warehouse, RUNS), "series")
    tasks = grouped(rows(warehouse, TASKS, MOST_TASKS), "series")
    return [
        {
            **counts,
            "runs": runs[counts["series"]],
            **{turn: [] for turn in TURNS},
            **grouped(tasks[counts["series"]], "turn"),
        }
        for counts in rows(warehouse, "from series_counts order by series")
    ]


def print_series(series: list[Row], warehouse: Path) -> None:
    """A section per series: its runs along it, how many tasks turned, and which most clearly."""
    if not series:
        click.echo(labelled("", NO_SERIES))
    for number, one in enumerate(series):
        click.echo("" if number == 0 else "\n", nl=False)
        name = click.style(inline(one["series"]), bold=True)
        click.echo(f"{name}  {one['n_runs']:,} runs of {inline(one['benchmark'])}")
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
    for citation in turned[:1]:
        click.echo(next_line(command("why", citation, warehouse)))


def _print_runs(runs: list[Row]) -> None:
    """The runs along the series; rewards where they say more than passes do."""
    names = ["run", "step", "tasks"]
    # A whole number where it is one: long ones would lose digits.
    steps = [int(s) if s is not None and s.is_integer() else s for s in (r["step"] for r in runs)]
    cells = [[run["run_id"], step, run["n_tasks"]] for run, step in zip(runs, steps, strict=True)]
    if any(run["pass_at_1"] is not None for run in runs):
        names += ["pass@1", "on shared tasks", "change"]
        for run, row in zip(runs, cells, strict=True):
            rates = (run["pass_at_1"], run["common_pass_at_1"])
            row += [None if rate is None else percent(rate) for rate in rates]
            row.append(_points(run["change"]))
    if any(rounded(run["mean_reward"]) != rounded(run["pass_at_1"]) for run in runs):
        names += ["mean reward", "on shared tasks", "change"]
        for run, row in zip(runs, cells, strict=True):
            row += [run["mean_reward"], run["common_mean_reward"], run["reward_change"]]
    print_table(names, cells)


def _print_turns(one: Row) -> None:
    """How many tasks turned each way, and the clearest of them."""
    if one["n_learned"] is None:
        click.echo("\n" + labelled("", UNSETTLED if one["n_common_tasks"] else NOTHING_SHARED))
        return
    whole = f" of {one['n_common_tasks']:,} tasks that every run scored"
    for turn, rest in (("learned", whole), ("forgotten", "")):
        count = one[f"n_{turn}"]
        said = heading(f"{turn} {count:,} {'task' if count == 1 else 'tasks'}")
        click.echo(f"{said} (noise alone: {one[f'expected_{turn}']:.1f}){rest}")
        if one[turn]:
            _print_tasks(one[turn])
        if n_more := count - len(one[turn]):
            said = f"and {n_more:,} more: blade sql lists them, from series_tasks where is_{turn}"
            click.echo(said)
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
    print_table(
        ("task", "along", "first", "last", "points a run", "q"),
        [
            (
                task["task_id"],
                sparkline(task["rates"]),
                *(f"{task['n_passed'][end]}/{task['n_scored'][end]}" for end in (0, -1)),
                _points(task["slope"]),
                None if task["q_value"] is None else f"{task['q_value']:.2g}",
            )
            for task in tasks
        ],
    )


def sparkline(rates: Sequence[float]) -> str:
    """Rates as blocks: the lowest is 0, the highest 1, and only those two are."""
    last = len(BLOCKS) - 1
    levels = (min(max(round(rate * last), rate > 0), last - (rate < 1)) for rate in rates)
    return "".join(BLOCKS[level] for level in levels)


def _points(change: float | None) -> str | None:
    """A change in percentage points; what rounds to nothing has no sign."""
    if change is None:
        return None
    said = f"{100 * change:+.1f}"
    return said if float(said) else "0.0"
