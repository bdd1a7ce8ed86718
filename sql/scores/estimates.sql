-- Every headline figure with both uncertainties: new tasks like these; these tasks, sampled again.
-- grain: run_id, metric, k
-- looks at: run
select
    run_id,
    metric,
    k,
    value,
    n_tasks,
    n_mixed_tasks,
    n_groups,
    se_new_tasks,
    ci_new_tasks_low,
    ci_new_tasks_high,
    se_same_tasks,
    ci_same_tasks_low,
    ci_same_tasks_high
from staging.estimates
where slice_key = ''
order by run_id, metric, k
