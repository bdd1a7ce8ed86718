-- Checkpoints in order: each run of a series, and its change from the run before on the same tasks.
-- grain: series, place
-- looks at: across
-- needs: staging.series_runs
with common as (
    select
        series,
        run_id,
        count(*) as n_tasks,
        sorted_sum(pass_rate) / nullif(count(pass_rate), 0) as pass_at_1,
        sorted_sum(mean_reward) / nullif(count(mean_reward), 0) as mean_reward
    from staging.series_outcomes
    where is_common
    group by all
)
select
    runs.series,
    runs.benchmark,
    runs.run_id,
    runs.place,
    runs.step,
    metrics.n_scored_tasks as n_tasks,
    metrics.pass_at_1,
    metrics.mean_reward,
    coalesce(common.n_tasks, 0) as n_common_tasks,
    common.pass_at_1 as common_pass_at_1,
    difference(common.pass_at_1, lag(common.pass_at_1) over along) as change,
    common.mean_reward as common_mean_reward,
    difference(common.mean_reward, lag(common.mean_reward) over along) as reward_change
from staging.series_runs as runs
inner join main.run_metrics as metrics using (run_id)
left join common using (series, run_id)
window along as (partition by runs.series order by runs.place)
order by series, place
