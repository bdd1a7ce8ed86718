-- The calls that solve a task, where its rows list them.
-- grain: run_id, task_id, action_no
-- kind: table
with actions as (
    select
        run_id,
        task_id,
        unnest(actions) as action
    from staging.action_lists
),
named as (
    select
        run_id,
        task_id,
        action.name as tool,
        canonical_arguments(coalesce(action.kwargs, action.arguments)) as arguments
    from actions
    where action.name is not null
)
select
    run_id,
    task_id,
    row_number() over (partition by run_id, task_id order by tool, arguments) as action_no,
    tool,
    arguments,
    -- The same call may be asked for twice.
    row_number() over (partition by run_id, task_id, tool, arguments order by tool) as nth
from named
