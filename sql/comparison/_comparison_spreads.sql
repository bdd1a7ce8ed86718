-- The standard errors of a change: for new tasks like these, for these again, and with missing as failures.
-- grain: base, candidate, metric
-- kind: table
with task_values as (
    select
        task_values.*,
        levels.n_common_tasks,
        levels.n_paired_tasks,
        difference(task_values.change, levels.delta) as deviation,
        difference(
            task_values.candidate_lowest - task_values.base_lowest, levels.delta_counted_as_fail
        ) as counted_deviation,
        case when task_values.is_common then
            coalesce(task_values.base_variance, levels.base_within)
                + coalesce(task_values.candidate_variance, levels.candidate_within)
        end as sampling_variance
    from staging.comparison_values as task_values
    inner join staging.comparison_levels as levels using (base, candidate, metric)
    where task_values.is_paired
),
groups as (
    select
        base,
        candidate,
        metric,
        task_group,
        n_common_tasks,
        n_paired_tasks,
        count(*) filter (where is_common) as n_common,
        steady_sum(deviation) as deviation,
        steady_sum(counted_deviation) as counted_deviation,
        steady_sum(sampling_variance) as sampling_variance
    from task_values
    group by all
)
select
    base,
    candidate,
    metric,
    count(*) filter (where n_common > 0) as n_groups,
    count(*) as n_counted_groups,
    sqrt(
        count(*) filter (where n_common > 0)
        / nullif(count(*) filter (where n_common > 0) - 1, 0)
        * steady_sum(square(deviation))
    ) / nullif(n_common_tasks, 0) as se_new_tasks,
    sqrt(steady_sum(sampling_variance)) / nullif(n_common_tasks, 0) as se_same_tasks,
    sqrt(count(*) / nullif(count(*) - 1, 0) * steady_sum(square(counted_deviation)))
        / nullif(n_paired_tasks, 0) as se_counted_as_fail
from groups
group by base, candidate, metric, n_common_tasks, n_paired_tasks
