-- How many tasks a series learned and forgot, beside what noise alone would give.
-- grain: series
-- looks at: across
-- needs: staging.series_runs
with tasks as (
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
    series,
    min(benchmark) as benchmark,
    count(*) as n_runs,
    arg_min(run_id, place) as first_run_id,
    arg_max(run_id, place) as last_run_id,
    min(n_common_tasks) as n_common_tasks,
    tasks.* exclude (series)
from main.series
left join tasks using (series)
group by all order by series
