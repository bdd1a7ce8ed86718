-- Both runs' figures, over all tasks and shared ones, how far missing rows could move them.
-- With the standard errors of the change: for new tasks, for these again, with missing as failures.
-- grain: base, candidate, metric
-- looks at: across
-- kind: table
-- needs: staging.run_pairs
with task_values as (
    select
        *,
        case when is_common then base_value end as base_shared,
        case when is_common then candidate_value end as candidate_shared,
        case when is_common then base_variance end as base_own_variance,
        case when is_common then candidate_variance end as candidate_own_variance,
        base_n_scored * base_own_variance as base_scatter,
        candidate_n_scored * candidate_own_variance as candidate_scatter,
        case when is_paired then base_lowest_variance + candidate_lowest_variance end as counted_variance,
        case when is_paired then candidate_lowest - base_lowest end as counted_change,
        case when is_paired then candidate_lowest - base_highest end as lowest_change,
        case when is_paired then candidate_highest - base_lowest end as highest_change,
        -- A whole task that one run lacks, failed or passed.
        candidate_least - base_least as possible_change,
        candidate_least - base_most as least_possible,
        candidate_most - base_least as most_possible
    from (
        select
            *,
            case when is_possible then if(pairing = 'base only' and is_bounded, 0, candidate_lowest) end
                as candidate_least,
            case when is_possible then if(pairing = 'base only' and is_bounded, 1, candidate_highest) end
                as candidate_most,
            if(pairing = 'candidate only' and is_bounded, 0, base_lowest) as base_least,
            if(pairing = 'candidate only' and is_bounded, 1, base_highest) as base_most
        from staging.comparison_values
    )
),
levels as materialized (
    select
        base,
        candidate,
        metric,
        count(base_value) as n_base_tasks,
        count(candidate_value) as n_candidate_tasks,
        count(change) as n_common_tasks,
        count(*) filter (where is_paired) as n_paired_tasks,
        bool_or(is_graded) filter (where change is not null) as is_graded,
        steady_sum(base_value) / nullif(n_base_tasks, 0) as base_value,
        steady_sum(candidate_value) / nullif(n_candidate_tasks, 0) as candidate_value,
        steady_sum(base_shared) / nullif(n_common_tasks, 0) as base_common,
        steady_sum(candidate_shared) / nullif(n_common_tasks, 0) as candidate_common,
        steady_sum(change) / nullif(n_common_tasks, 0) as delta,
        count(*) filter (where change > 0) as n_gains,
        count(*) filter (where change < 0) as n_losses,
        count(*) filter (where base_own_variance > 0 or candidate_own_variance > 0) as n_mixed_tasks,
        count(*) filter (where is_common and least(base_n_scored, candidate_n_scored) > 1) as n_repeated_tasks,
        -- Of a task with one repeat the variance is what the others have.
        steady_sum(base_scatter) / nullif(count(base_own_variance), 0) as base_within,
        steady_sum(candidate_scatter) / nullif(count(candidate_own_variance), 0) as candidate_within,
        -- Of one task unknown, the mean is.
        case when count(counted_change) = n_paired_tasks then steady_sum(counted_change) / nullif(n_paired_tasks, 0) end
            as delta_counted_as_fail,
        case when count(lowest_change) = n_paired_tasks then steady_sum(lowest_change) / nullif(n_paired_tasks, 0) end
            as bound_low,
        case when count(highest_change) = n_paired_tasks then steady_sum(highest_change) / nullif(n_paired_tasks, 0) end
            as bound_high,
        count(*) filter (where is_possible) as n_possible_tasks,
        case when count(*) filter (where is_possible and possible_change is null) = 0 then
            steady_sum(possible_change) / nullif(n_possible_tasks, 0)
        end as delta_possible,
        case when delta_possible is not null then steady_sum(least_possible) / nullif(n_possible_tasks, 0) end
            as possible_low,
        case when delta_possible is not null then steady_sum(most_possible) / nullif(n_possible_tasks, 0) end
            as possible_high,
        -- With what is missing as failures, of tasks that had repeats.
        case when count(counted_variance) = n_paired_tasks then
            sqrt(steady_sum(counted_variance)) / nullif(n_paired_tasks, 0)
        end as se_same_counted_as_fail,
        not coalesce(bool_or(not is_bounded), false) as is_bounded
    from task_values
    group by base, candidate, metric
),
apart as (
    select
        *,
        difference(change, delta) as own_difference,
        difference(counted_change, delta_counted_as_fail) as counted_difference,
        difference(possible_change, delta_possible) as possible_difference,
        coalesce(base_own_variance, case when is_common then base_within end)
            + coalesce(candidate_own_variance, case when is_common then candidate_within end) as sampling_variance,
        -- Where repeats differ, one attempt that happened to pass hides how the task varies: by how
        -- much less the differences vary than attempts dealt out again would.
        case when is_common and base_n_scored <> candidate_n_scored then
            dealt_variance(
                base_n_scored, base_shared, base_own_variance,
                candidate_n_scored, candidate_shared, candidate_own_variance
            ) - own_difference ** 2 * n_common_tasks / nullif(n_common_tasks - 1, 0)
        end as hidden_variance,
        case when is_paired and base_n_attempts <> candidate_n_attempts then
            dealt_variance(
                base_n_attempts, base_lowest, base_lowest_variance,
                candidate_n_attempts, candidate_lowest, candidate_lowest_variance
            )
        end as dealt_counted,
        dealt_counted - counted_difference ** 2 * n_paired_tasks / nullif(n_paired_tasks - 1, 0)
            as hidden_counted,
        dealt_counted - possible_difference ** 2 * n_possible_tasks / nullif(n_possible_tasks - 1, 0)
            as hidden_possible
    from task_values
    inner join levels using (base, candidate, metric)
    where is_possible
),
groups as (
    select
        base,
        candidate,
        metric,
        n_common_tasks,
        n_paired_tasks,
        n_possible_tasks,
        count(*) filter (where is_common) as n_common,
        count(*) filter (where is_paired) as n_paired,
        count(*) as n_possible,
        steady_sum(own_difference) ** 2 as square,
        steady_sum(counted_difference) ** 2 as counted_square,
        steady_sum(possible_difference) ** 2 as possible_square,
        steady_sum(sampling_variance) as sampling_variance,
        steady_sum(hidden_variance) as hidden_variance,
        steady_sum(hidden_counted) as hidden_counted,
        steady_sum(hidden_possible) as hidden_possible
    from apart
    group by
        base, candidate, metric, task_group, n_common_tasks, n_paired_tasks, n_possible_tasks
),
spreads as (
    select
        base,
        candidate,
        metric,
        count(*) filter (where n_common > 0) as n_groups,
        count(*) filter (where n_paired > 0) as n_counted_groups,
        count(*) as n_possible_groups,
        with_hidden(
            clustered_error(square, n_common, n_common_tasks), steady_sum(hidden_variance), n_common_tasks
        ) as se_new_tasks,
        with_hidden(
            clustered_error(counted_square, n_paired, n_paired_tasks), steady_sum(hidden_counted), n_paired_tasks
        ) as se_counted_as_fail,
        with_hidden(
            clustered_error(possible_square, n_possible, n_possible_tasks),
            steady_sum(hidden_possible),
            n_possible_tasks
        ) as se_possible,
        clustered_degrees(n_common, if(n_common > 0, 1, 0), n_common_tasks) as degrees,
        clustered_degrees(n_paired, if(n_paired > 0, 1, 0), n_paired_tasks) as counted_degrees,
        clustered_degrees(n_possible, 1, n_possible_tasks) as possible_degrees,
        sqrt(steady_sum(sampling_variance)) / nullif(n_common_tasks, 0) as se_same_tasks
    from groups
    group by base, candidate, metric, n_common_tasks, n_paired_tasks, n_possible_tasks
)
select
    levels.*,
    spreads.* exclude (base, candidate, metric)
from levels
left join spreads using (base, candidate, metric)
