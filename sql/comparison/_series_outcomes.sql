-- How each task that a series scored fared in each of its runs, and which tasks all runs share.
-- grain: series, run_id, task_id
-- looks at: across
-- needs: staging.series_runs
with runs as (
    select
        *,
        place = min(place) over (partition by series) as is_first,
        place = max(place) over (partition by series) as is_last,
        count(*) over (partition by series) as n_runs
    from staging.series_runs
),
outcomes as (
    select
        runs.*,
        outcomes.task_id,
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
)
select
    * exclude (step, n_runs, question),
    count(*) over of_task = n_runs
        and coalesce(min(question) over of_task = max(question) over of_task, true) as is_common
from outcomes
window of_task as (partition by series, task_id)
