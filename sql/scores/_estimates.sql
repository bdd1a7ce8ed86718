-- A run's figures with both standard errors: for new tasks like these, and for these tasks again.
-- grain: run_id, slice_key, slice_value, metric, k
-- looks at: run
-- kind: table
-- computed by: pipeline.analysis.intervals.estimates
-- columns: *, ci_new_tasks_low, ci_new_tasks_high, ci_same_tasks_low, ci_same_tasks_high
with levels as (
    select
        run_id,
        slice_key,
        slice_value,
        metric,
        k,
        cast(sum(n_tasks) as bigint) as n_tasks,
        cast(coalesce(sum(n_tasks) filter (is_mixed), 0) as bigint) as n_mixed_tasks,
        sorted_sum(n_tasks * value) / sum(n_tasks) as value,
        sorted_sum(n_tasks * n_scored * sampling_variance)
            / sum(n_tasks) filter (sampling_variance is not null) as within_variance
    from staging.task_values
    group by all
),
deviations as (
    select
        levels.*,
        tasks.task_group,
        tasks.n_tasks as n_alike,
        tasks.value - levels.value as deviation,
        -- A task with too few repeats to show its own variance is given the others'.
        coalesce(tasks.sampling_variance, levels.within_variance / tasks.n_scored) as sampling_variance
    from levels
    inner join staging.task_values as tasks using (run_id, slice_key, slice_value, metric, k)
),
groups as (
    select
        * exclude (within_variance, n_alike, deviation, sampling_variance),
        sum(n_alike) as n_alike,
        sorted_sum(n_alike * deviation) as deviation_sum,
        sorted_sum(n_alike * (deviation * deviation)) as square_sum,
        sorted_sum(n_alike * sampling_variance) as sampling_sum
    from deviations
    group by all
),
-- A task without a group is a group of its own.
spread as (
    select
        * exclude (n_units, n_own, square, sampling_sum),
        cast(sum(n_units) as bigint) as n_groups,
        clustered_error(square, n_own, n_tasks) as se_new_tasks,
        clustered_degrees(n_own, n_units, n_tasks) as degrees,
        sorted_sum(sampling_sum) as sampling_sum
    from (
        select
            * exclude (task_group, n_alike, deviation_sum, square_sum),
            if(task_group is null, n_alike, 1) as n_units,
            if(task_group is null, 1, n_alike) as n_own,
            if(task_group is null, square_sum, deviation_sum * deviation_sum) as square
        from groups
    ) as units
    group by all
)
select
    spread.* exclude (sampling_sum),
    sqrt(sampling_sum) / n_tasks as se_same_tasks,
    metric in ('pass_at', 'pass_hat')
        or (benchmarks.lowest >= -1e-9 and benchmarks.highest <= 1 + 1e-9) as is_bounded,
    -- Of another scale only what was observed is known.
    if(is_bounded, null, benchmarks.lowest) as lowest,
    if(is_bounded, null, benchmarks.highest) as highest
from spread
inner join staging.run_benchmarks as benchmarks using (run_id)
