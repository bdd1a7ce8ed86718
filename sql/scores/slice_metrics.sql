-- The figures of each slice of a run's tasks: counts, buckets, pass@1 and its interval.
-- grain: run_id, slice_key, slice_value
-- looks at: run
-- kind: table
-- needs: staging.task_slices
with counted as (
    select
        outcomes.run_id,
        slices.name as slice_key,
        slices.value as slice_value,
        count(*) as n_tasks,
        count(*) filter (outcomes.n_scored > 0) as n_scored_tasks,
        cast(sum(outcomes.n_rollouts) as bigint) as n_rollouts,
        cast(sum(outcomes.n_scored) as bigint) as n_scored,
        cast(sum(outcomes.n_passed) as bigint) as n_passed,
        count(*) filter (outcomes.bucket = 'always') as n_always,
        count(*) filter (outcomes.bucket = 'sometimes') as n_sometimes,
        count(*) filter (outcomes.bucket = 'never') as n_never,
        count(*) filter (outcomes.bucket = 'missing') as n_missing
    from main.task_outcomes as outcomes
    inner join staging.task_slices as slices using (benchmark, task_id)
    group by all
),
figures as (
    select
        run_id,
        slice_key,
        slice_value,
        any_value(intervals) filter (metric = 'pass_at') as pass_at_1,
        any_value(value) filter (metric = 'mean_reward') as mean_reward
    from staging.estimates as intervals
    where slice_key <> ''
    group by all
),
-- What the other values of a slice come to together; a single task may have any rate.
sums as (
    select
        run_id,
        slice_key,
        slice_value,
        n_scored_tasks as n,
        figures.pass_at_1.value * n as total,
        coalesce(figures.pass_at_1.se_new_tasks, 0.5) * n as error,
        sum(n) over slices - n as n_rest,
        (sum(total) over slices - total) / nullif(n_rest, 0) as rest,
        -- That a few tasks all pass does not make their rate certain: two more of either kind are added.
        (rest * n_rest + 2) / (n_rest + 4) as wider_rest,
        if(
            rest >= 1 - 1e-9,
            sqrt(wider_rest * (1 - wider_rest) / nullif(n_rest, 0)),
            sqrt(greatest(sum(error * error) over slices - error * error, 0)) / nullif(n_rest, 0)
        ) as rest_se
    from counted
    inner join figures using (run_id, slice_key, slice_value)
    where n_scored_tasks > 0
    window slices as (partition by run_id, slice_key)
),
-- Fields of which every value has passes alone or failures alone: the verdict in other words.
verdicts as (
    select
        benchmark,
        slice_key,
        true as is_verdict
    from (
        select
            benchmark,
            slice_key,
            slice_value,
            sum(n_passed) as n_passed,
            sum(n_scored) as n_scored
        from counted
        inner join staging.run_benchmarks using (run_id)
        group by all
    )
    group by all
    having bool_and(n_passed in (0, n_scored)) and sum(n_passed) > 0 and sum(n_passed) < sum(n_scored)
)
select
    counted.* exclude (n_always, n_sometimes, n_never, n_missing),
    figures.pass_at_1.value as pass_at_1,
    figures.pass_at_1.se_new_tasks as se_new_tasks,
    figures.pass_at_1.ci_new_tasks_low as ci_new_tasks_low,
    figures.pass_at_1.ci_new_tasks_high as ci_new_tasks_high,
    coalesce(verdicts.is_verdict, false) as is_verdict,
    not coalesce(verdicts.is_verdict, false)
        -- Tasks without a word in a list are the others of those with it.
        and not (contains(counted.slice_key, ' has ') and counted.slice_value = 'no')
        and figures.pass_at_1.ci_new_tasks_high < sums.rest - 1.96 * sums.rest_se as is_below_rest,
    figures.mean_reward,
    case when runs.pass_threshold is not null then counted.n_always end as n_always,
    case when runs.pass_threshold is not null then counted.n_sometimes end as n_sometimes,
    case when runs.pass_threshold is not null then counted.n_never end as n_never,
    counted.n_missing
from counted
inner join main.runs using (run_id)
left join figures using (run_id, slice_key, slice_value)
left join sums using (run_id, slice_key, slice_value)
left join verdicts on verdicts.benchmark = runs.benchmark and verdicts.slice_key = counted.slice_key
