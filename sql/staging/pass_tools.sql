-- The sets of tools with which a run passed a task, and how often it called each.
-- grain: run_id, task_id, tools
with

final as (

    select
        run_id,
        task_id,
        cast(calls_by_tool as varchar) as tools

    from main.rollout_features

    where is_pass

    group by all

)

select * from final
