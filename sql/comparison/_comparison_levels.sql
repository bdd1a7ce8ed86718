-- Both runs' figures, over all tasks and over those they share, and how far missing rows could move them.
-- grain: base, candidate, metric
-- kind: table
with task_values as (
    select
        *,
        case when is_common then base_value end as base_shared,
        case when is_common then candidate_value end as candidate_shared,
        case when is_common then base_variance end as base_own_variance,
        case when is_common then candidate_variance end as candidate_own_variance,
        case when is_paired then candidate_lowest - base_lowest end as counted_change,
        case when is_paired then candidate_lowest - base_highest end as lowest_change,
        case when is_paired then candidate_highest - base_lowest end as highest_change
    from staging.comparison_values
)
select
    base,
    candidate,
    metric,
    count(base_value) as n_base_tasks,
    count(candidate_value) as n_candidate_tasks,
    count(change) as n_common_tasks,
    count(*) filter (where is_paired) as n_paired_tasks,
    bool_or(is_graded) filter (where change is not null) as is_graded,
    steady_sum(base_value) / nullif(count(base_value), 0) as base_value,
    steady_sum(candidate_value) / nullif(count(candidate_value), 0) as candidate_value,
    steady_sum(base_shared) / nullif(count(change), 0) as base_common,
    steady_sum(candidate_shared) / nullif(count(change), 0) as candidate_common,
    steady_sum(change) / nullif(count(change), 0) as delta,
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
    case when count(counted_change) = count(*) filter (where is_paired) then
        steady_sum(counted_change) / nullif(count(counted_change), 0)
    end as delta_counted_as_fail,
    case when count(lowest_change) = count(*) filter (where is_paired) then
        steady_sum(lowest_change) / nullif(count(lowest_change), 0)
    end as bound_low,
    case when count(highest_change) = count(*) filter (where is_paired) then
        steady_sum(highest_change) / nullif(count(highest_change), 0)
    end as bound_high,
    not coalesce(bool_or(not is_bounded), false) as is_bounded
from task_values
group by all
