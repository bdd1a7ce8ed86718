-- Tasks whose rows list the calls that solve them; an empty list says that nothing is to be changed.
-- grain: run_id, task_id
-- kind: table
with
-- One row of a task speaks for all.
listed as (
    select
        run_id,
        task_id,
        min(cast(verifier as varchar)) as verifier
    from main.rollouts
    where regexp_matches(cast(verifier as varchar), '"expected_actions"')
    group by all
),
read as (
    select
        run_id,
        task_id,
        expected_calls(verifier) as actions
    from listed
)
select run_id, task_id, actions
from read
where actions is not null
