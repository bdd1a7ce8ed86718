-- The calls that solve a task, where its rows list them.
-- grain: run_id, task_id, action_no
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

actions as (

    select
        run_id,
        task_id,
        unnest(expected_calls(verifier)) as action

    from listed

),

named as (

    select
        run_id,
        task_id,
        action.name as tool,
        canonical_arguments(coalesce(action.kwargs, action.arguments)) as arguments

    from actions

    where action.name is not null

),

final as (

    select
        run_id,
        task_id,
        row_number() over (partition by run_id, task_id order by tool, arguments) as action_no,
        tool,
        arguments

    from named

)

select * from final
