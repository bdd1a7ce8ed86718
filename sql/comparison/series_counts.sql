-- How many tasks a series learned and forgot, beside what noise alone would give.
-- grain: series
-- kind: table
with runs as (
    select
        series,
        min(benchmark) as benchmark,
        count(*) as n_runs,
        max_by(run_id, -place) as first_run_id,
        max_by(run_id, place) as last_run_id,
        min(n_common_tasks) as n_common_tasks
    from main.series
    group by all
),
tasks as (
    select
        series,
        count(*) filter (where is_learned) as n_learned,
        sorted_sum(expected_learned) as expected_learned,
        count(*) filter (where is_forgotten) as n_forgotten,
        sorted_sum(expected_forgotten) as expected_forgotten,
        count(p_value) as n_tested,
        count(*) filter (where q_value < 0.05 and slope > 0) as n_rising,
        count(*) filter (where q_value < 0.05 and slope < 0) as n_falling
    from main.series_tasks
    group by all
)
select
    runs.series,
    runs.benchmark,
    runs.n_runs,
    runs.first_run_id,
    runs.last_run_id,
    runs.n_common_tasks,
    tasks.n_learned,
    tasks.expected_learned,
    tasks.n_forgotten,
    tasks.expected_forgotten,
    tasks.n_tested,
    tasks.n_rising,
    tasks.n_falling
from runs
left join tasks using (series)
