-- What a compared task took, over its scored rollouts: tokens, turns, calls, seconds.
-- grain: run_id, task_id
-- kind: table
with

final as (

    select
        rollouts.run_id,
        rollouts.task_id,
        sum(rollouts.input_tokens) / nullif(count(rollouts.input_tokens), 0) as input_tokens,
        sum(rollouts.output_tokens) / nullif(count(rollouts.output_tokens), 0) as output_tokens,
        sum(rollouts.n_turns) / nullif(count(rollouts.n_turns), 0) as n_turns,
        sum(rollouts.n_tool_calls) / nullif(count(rollouts.n_tool_calls), 0) as n_tool_calls,
        sum(rollouts.n_tool_errors) / nullif(count(rollouts.n_tool_errors), 0) as n_tool_errors,
        sorted_sum(rollouts.duration_s) / nullif(count(rollouts.duration_s), 0) as duration_s

    from main.rollouts as rollouts

    inner join staging.task_sides as sides using (run_id, task_id)

    where rollouts.is_scored

    group by rollouts.run_id, rollouts.task_id

)

select * from final
