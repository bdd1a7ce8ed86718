"""Series of checkpoints, read from the warehouse as plain values."""

from __future__ import annotations

from collections import defaultdict

from pipeline.cli.lookup import Row, rows
from pipeline.warehouse import Warehouse

MOST_TASKS = 10

RUNS = """
    select
        series,
        place,
        run_id,
        step,
        n_tasks,
        pass_at_1,
        mean_reward,
        n_common_tasks,
        common_pass_at_1,
        change,
        common_mean_reward,
        reward_change
    from series
    order by series, place
"""
COUNTS = "from series_counts order by series"
# A task may be learned and rise: it is listed once, where more is said of it.
TASKS = """
    with turns as (
        select
            *,
            case
                when is_learned then 'learned'
                when is_forgotten then 'forgotten'
                when q_value < 0.05 and slope > 0 then 'rising'
                when q_value < 0.05 and slope < 0 then 'falling'
            end as turn
        from series_tasks
    )
    select
        series,
        turn,
        task_id,
        n_scored,
        n_passed,
        rates,
        slope,
        p_value,
        q_value,
        turns.expected_learned,
        turns.expected_forgotten,
        first_run_id || '/' || task_id as first_citation,
        last_run_id || '/' || task_id as last_citation
    from turns
    inner join series_counts using (series)
    where turn is not null
    qualify row_number() over (
        partition by series, turn
        order by p_value nulls last, abs(last_rate - first_rate) desc, task_id
    ) <= ?
    order by series, turn, p_value nulls last, abs(last_rate - first_rate) desc, task_id
"""
TURNS = ("learned", "forgotten", "rising", "falling")


def series(warehouse: Warehouse, *, limit: int = MOST_TASKS) -> list[Row]:
    """Every series with its runs in order, its counts, and the clearest tasks of each kind."""
    runs = _by_series(rows(warehouse, RUNS))
    tasks = _by_series(rows(warehouse, TASKS, limit))
    return [
        {
            **counts,
            "runs": runs[name],
            **{turn: _of(tasks[name], turn) for turn in TURNS},
        }
        for counts in rows(warehouse, COUNTS)
        if (name := counts["series"])
    ]


def _by_series(found: list[Row]) -> dict[str, list[Row]]:
    grouped: dict[str, list[Row]] = defaultdict(list)
    for row in found:
        grouped[row.pop("series")].append(row)
    return grouped


def _of(tasks: list[Row], turn: str) -> list[Row]:
    return [
        {name: value for name, value in task.items() if name != "turn"}
        for task in tasks
        if task["turn"] == turn
    ]
