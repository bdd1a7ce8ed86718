-- What each rollout of a sometimes-pass task did, a row a feature; a null value is unknown.
-- grain: run_id, task_id, rollout_index, feature
with

rollouts as (

    select
        rollouts.run_id,
        rollouts.task_id,
        rollouts.rollout_index,
        rollouts.is_pass,
        cast(rollouts.is_truncated as integer) as is_truncated,
        cast(rollouts.has_action as integer) as has_action,
        cast(rollouts.has_feedback as integer) as has_feedback,
        cast(rollouts.n_tool_errors > 0 as integer) as has_tool_error,
        rollouts.n_turns,
        rollouts.n_tool_calls,
        rollouts.n_tool_errors,
        rollouts.output_tokens,
        rollouts.duration_s,
        case when rollouts.n_events is not null then length(coalesce(rollouts.final_text, '')) end
            as final_text_length

    from main.rollouts as rollouts

    inner join main.task_outcomes as outcomes using (run_id, task_id)

    where outcomes.bucket = 'sometimes' and rollouts.is_pass is not null

),

said as (

    select *, 'is_truncated' as feature, 'binary' as kind, is_truncated as value from rollouts
    union all
    select *, 'has_action', 'binary', has_action from rollouts
    union all
    select *, 'has_feedback', 'binary', has_feedback from rollouts
    union all
    select *, 'has_tool_error', 'binary', has_tool_error from rollouts
    union all
    select *, 'n_turns', 'number', n_turns from rollouts
    union all
    select *, 'n_tool_calls', 'number', n_tool_calls from rollouts
    union all
    select *, 'n_tool_errors', 'number', n_tool_errors from rollouts
    union all
    select *, 'output_tokens', 'number', output_tokens from rollouts
    union all
    select *, 'duration_s', 'number', duration_s from rollouts
    union all
    select *, 'final_text_length', 'number', final_text_length from rollouts

),

final as (

    select
        run_id,
        task_id,
        rollout_index,
        is_pass,
        feature,
        kind,
        cast(value as double) as value

    from said

)

select * from final
