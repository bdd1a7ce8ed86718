-- The tools that each rollout calls at all.
-- grain: run_id, task_id, rollout_index, tool
with

final as (

    select
        run_id,
        task_id,
        rollout_index,
        tool

    from staging.keyed_calls

    group by all

)

select * from final
