-- How each task that a series scored fared in each of its runs, and which tasks all runs share.
-- grain: series, run_id, task_id
-- kind: table
with runs as (
    select
        *,
        min(place) over (partition by series) as first_place,
        max(place) over (partition by series) as last_place,
        count(*) over (partition by series) as n_runs
    from staging.series_runs
),
outcomes as (
    select
        runs.series,
        runs.run_id,
        outcomes.task_id,
        runs.place,
        runs.place = runs.first_place as is_first,
        runs.place = runs.last_place as is_last,
        runs.n_runs,
        outcomes.n_scored,
        outcomes.n_passed,
        outcomes.pass_rate,
        outcomes.mean_reward,
        -- Several questions of one run for a task can be held against no other's.
        nullif(contradicted.question, '') as question
    from runs
    inner join main.task_outcomes as outcomes using (run_id)
    left join staging.run_tasks as contradicted using (run_id, task_id)
    where outcomes.n_scored > 0
),
common as (
    select series, task_id
    from outcomes
    group by series, task_id, n_runs
    having count(*) = n_runs and coalesce(min(question) = max(question), true)
)
select
    outcomes.series,
    outcomes.run_id,
    outcomes.task_id,
    outcomes.place,
    outcomes.is_first,
    outcomes.is_last,
    outcomes.n_scored,
    outcomes.n_passed,
    outcomes.pass_rate,
    outcomes.mean_reward,
    common.task_id is not null as is_common
from outcomes
left join common using (series, task_id)
