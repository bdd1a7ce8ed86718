-- Both runs' figures, over all tasks and shared ones, how far missing rows could move them.
-- With the standard errors of the change: for new tasks, for these again, with missing as failures.
-- grain: base, candidate, metric
-- kind: table
-- needs: staging.run_pairs
with task_values as (
    select
        *,
        case when is_common then base_variance end as base_own_variance,
        case when is_common then candidate_variance end as candidate_own_variance,
        case when is_paired then candidate_lowest - base_lowest end as counted_change,
        case when is_paired then candidate_lowest - base_highest end as lowest_change,
        case when is_paired then candidate_highest - base_lowest end as highest_change
    from staging.comparison_values
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
        steady_sum(case when is_common then base_value end) / nullif(n_common_tasks, 0)
            as base_common,
        steady_sum(case when is_common then candidate_value end) / nullif(n_common_tasks, 0)
            as candidate_common,
        steady_sum(change) / nullif(n_common_tasks, 0) as delta,
        count(*) filter (where change > 0) as n_gains,
        count(*) filter (where change < 0) as n_losses,
        count(*) filter (where base_own_variance > 0 or candidate_own_variance > 0)
            as n_mixed_tasks,
        -- Of a task with one repeat the variance is what the others have.
        steady_sum(base_n_scored * base_own_variance) / nullif(count(base_own_variance), 0)
            as base_within,
        steady_sum(candidate_n_scored * candidate_own_variance)
            / nullif(count(candidate_own_variance), 0) as candidate_within,
        -- Of one task unknown, the mean is.
        case when count(counted_change) = n_paired_tasks then
            steady_sum(counted_change) / nullif(n_paired_tasks, 0)
        end as delta_counted_as_fail,
        case when count(lowest_change) = n_paired_tasks then
            steady_sum(lowest_change) / nullif(n_paired_tasks, 0)
        end as bound_low,
        case when count(highest_change) = n_paired_tasks then
            steady_sum(highest_change) / nullif(n_paired_tasks, 0)
        end as bound_high,
        not coalesce(bool_or(not is_bounded), false) as is_bounded
    from task_values
    group by base, candidate, metric
),
groups as (
    select
        base,
        candidate,
        metric,
        count(*) filter (where is_common) > 0 as is_common,
        steady_sum(difference(change, delta)) as deviation,
        steady_sum(difference(counted_change, delta_counted_as_fail)) as counted_deviation,
        steady_sum(case when is_common then
            coalesce(base_variance, base_within) + coalesce(candidate_variance, candidate_within)
        end) as sampling_variance
    from task_values
    inner join levels using (base, candidate, metric)
    where is_paired
    group by base, candidate, metric, task_group
),
spreads as (
    select
        base,
        candidate,
        metric,
        count(*) filter (where is_common) as n_groups,
        count(*) as n_counted_groups,
        steady_sum(deviation * deviation) as deviations,
        steady_sum(counted_deviation * counted_deviation) as counted_deviations,
        steady_sum(sampling_variance) as sampling_variance
    from groups
    group by all
)
select
    levels.*,
    n_groups,
    n_counted_groups,
    sqrt(n_groups / nullif(n_groups - 1, 0) * deviations) / nullif(n_common_tasks, 0)
        as se_new_tasks,
    sqrt(sampling_variance) / nullif(n_common_tasks, 0) as se_same_tasks,
    sqrt(n_counted_groups / nullif(n_counted_groups - 1, 0) * counted_deviations)
        / nullif(n_paired_tasks, 0) as se_counted_as_fail
from levels
left join spreads using (base, candidate, metric)
