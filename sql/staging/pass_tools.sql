-- The sets of tools with which a run passed a task.
-- grain: run_id, task_id, tools
with

final as (

    select
        run_id,
        task_id,
        cast(map_keys(calls_by_tool) as varchar) as tools

    from main.rollout_features

    where is_pass

    group by all

)

select * from final
