-- How many scored tasks have so many passes of so many repeats: all that pass@k depends on.
-- grain: run_id, slice_key, slice_value, task_group, n_scored, n_passed
-- kind: table
select
    run_id,
    slice_key,
    slice_value,
    task_group,
    n_scored,
    n_passed,
    count(*) as n_tasks
from staging.scored_tasks
where n_passed is not null
group by all
