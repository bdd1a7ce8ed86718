-- Every headline figure with both uncertainties: new tasks like these; these tasks, sampled again.
-- grain: run_id, metric, k
-- kind: table
select
    estimates.run_id,
    estimates.metric,
    estimates.k,
    estimates.value,
    estimates.n_tasks,
    estimates.n_mixed_tasks,
    estimates.n_groups,
    estimates.se_new_tasks,
    intervals.ci_new_tasks_low,
    intervals.ci_new_tasks_high,
    estimates.se_same_tasks,
    intervals.ci_same_tasks_low,
    intervals.ci_same_tasks_high
from staging.estimates
inner join staging.intervals using (run_id, slice_key, slice_value, metric, k)
where estimates.slice_key = ''
