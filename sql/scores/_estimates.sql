-- A run's figures with both standard errors: for new tasks like these, and for these tasks again.
-- grain: run_id, slice_key, slice_value, metric, k
-- kind: table
with levels as (
    select
        run_id,
        slice_key,
        slice_value,
        metric,
        k,
        cast(sum(n_tasks) as bigint) as n_tasks,
        cast(coalesce(sum(n_tasks) filter (where is_mixed), 0) as bigint) as n_mixed_tasks,
        sorted_sum(n_tasks * value) / sum(n_tasks) as value,
        sorted_sum(n_tasks * n_scored * sampling_variance)
            / sum(n_tasks) filter (where sampling_variance is not null) as within_variance
    from staging.task_values
    group by all
),
-- A task without a group is a group of its own.
groups as (
    select
        task_values.run_id,
        task_values.slice_key,
        task_values.slice_value,
        task_values.metric,
        task_values.k,
        task_values.task_group,
        case when task_values.task_group is null then sum(task_values.n_tasks) else 1 end as n_groups,
        case
            when task_values.task_group is null
                then sorted_sum(task_values.n_tasks * square(task_values.value - levels.value))
            else square(sorted_sum(task_values.n_tasks * (task_values.value - levels.value)))
        end as square_sum,
        -- A task with too few repeats to show its own variance is given the others'.
        sorted_sum(
            task_values.n_tasks
            * coalesce(task_values.sampling_variance, levels.within_variance / task_values.n_scored)
        ) as sampling_sum
    from staging.task_values
    inner join levels using (run_id, slice_key, slice_value, metric, k)
    group by
        task_values.run_id,
        task_values.slice_key,
        task_values.slice_value,
        task_values.metric,
        task_values.k,
        task_values.task_group
),
spread as (
    select
        run_id,
        slice_key,
        slice_value,
        metric,
        k,
        cast(sum(n_groups) as bigint) as n_groups,
        sorted_sum(square_sum) as square_sum,
        sorted_sum(sampling_sum) as sampling_sum
    from groups
    group by all
)
select
    levels.run_id,
    levels.slice_key,
    levels.slice_value,
    levels.metric,
    levels.k,
    levels.n_tasks,
    levels.n_mixed_tasks,
    spread.n_groups,
    levels.value,
    sqrt(spread.n_groups / nullif(spread.n_groups - 1, 0) * spread.square_sum) / levels.n_tasks
        as se_new_tasks,
    sqrt(spread.sampling_sum) / levels.n_tasks as se_same_tasks,
    levels.metric in ('pass_at', 'pass_hat')
        or (thresholds.lowest >= -1e-9 and thresholds.highest <= 1 + 1e-9) as is_bounded
from levels
inner join spread using (run_id, slice_key, slice_value, metric, k)
inner join staging.run_benchmarks using (run_id)
inner join staging.thresholds using (benchmark)
