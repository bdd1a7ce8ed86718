-- The change of the whole score by slice: what its tasks changed, and what its share of tasks did.
-- grain: base, candidate, metric, slice_key, slice_value, effect
with

levels as (

    select * from staging.comparison_levels

),

keys as (

    select
        benchmark,
        name as slice_key

    from staging.task_slices

    group by all

),

-- Every task has a place in every slice, if only among those that name none.
tasks as (

    select
        task_values.*,
        keys.slice_key,
        coalesce(slices.value, '') as slice_value

    from staging.comparison_values as task_values

    inner join staging.run_pairs as pairs using (base, candidate)

    inner join keys using (benchmark)

    left join staging.task_slices as slices
        on slices.benchmark = keys.benchmark
        and slices.name = keys.slice_key
        and slices.task_id = task_values.task_id

),

counted as (

    select
        base,
        candidate,
        metric,
        slice_key,
        slice_value,
        count(base_value) as n_base,
        count(candidate_value) as n_candidate,
        count(change) as n_common,
        steady_sum(base_value) / nullif(count(base_value), 0) as base_mean,
        steady_sum(candidate_value) / nullif(count(candidate_value), 0) as candidate_mean,
        steady_sum(change) as total,
        steady_sum(square(change)) as sum_of_squares,
        largest_by(task_id, change) as example_task

    from tasks

    group by all

),

-- A slice of one run only takes the other's rate.
shared as (

    select
        counted.*,
        counted.n_base / levels.n_base_tasks as base_share,
        counted.n_candidate / levels.n_candidate_tasks as candidate_share,
        coalesce(counted.base_mean, counted.candidate_mean) as base_rate,
        coalesce(counted.candidate_mean, counted.base_mean) as candidate_rate,
        counted.n_base = counted.n_common and counted.n_candidate = counted.n_common as is_same

    from counted

    inner join levels using (base, candidate, metric)

    -- Runs that share no task are not runs of one thing.
    where levels.n_common_tasks > 0

),

final as (

    select
        base,
        candidate,
        metric,
        slice_key,
        slice_value,
        'rate' as effect,
        (base_share + candidate_share) / 2 * (candidate_rate - base_rate) as amount,
        n_common as n_tasks,
        -- Of tasks that both runs have the change is a mean of differences, with an error.
        case when is_same then
            (base_share + candidate_share) / 2
            * error_of_mean(sum_of_squares, total / nullif(n_common, 0), n_common)
        end as se,
        difference(candidate_rate, base_rate) as rate_change,
        example_task

    from shared

    where n_base > 0 or n_candidate > 0

    union all

    select
        base,
        candidate,
        metric,
        slice_key,
        slice_value,
        'mix' as effect,
        (base_rate + candidate_rate) / 2 * (candidate_share - base_share) as amount,
        n_base + n_candidate - n_common as n_tasks,
        null as se,
        null as rate_change,
        null as example_task

    from shared

    where base_share <> candidate_share

)

select * from final
