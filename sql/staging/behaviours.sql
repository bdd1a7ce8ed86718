-- What each rollout of a sometimes-pass task did, a row a feature; a null value is unknown.
-- grain: run_id, task_id, rollout_index, feature
with

rollouts as (

    select features.*

    from main.rollout_features as features

    inner join main.task_outcomes as outcomes using (run_id, task_id)

    where outcomes.bucket = 'sometimes' and features.is_pass is not null

),

-- A feature is named by what it asks of rollout_features.
said as (

    select
        run_id,
        task_id,
        rollout_index,
        is_pass,
        unnest([
            struct_pack(feature := 'is_truncated', is_number := false, value := cast(is_truncated as double)),
            struct_pack(feature := 'has_action', is_number := false, value := cast(has_action as double)),
            struct_pack(feature := 'has_feedback', is_number := false, value := cast(has_feedback as double)),
            struct_pack(feature := 'has_answer', is_number := false, value := cast(has_answer as double)),
            struct_pack(feature := 'is_refusal', is_number := false, value := cast(is_refusal as double)),
            struct_pack(feature := 'n_tool_errors > 0', is_number := false, value := cast(n_tool_errors > 0 as double)),
            struct_pack(feature := 'longest_error_streak > 1', is_number := false, value := cast(longest_error_streak > 1 as double)),
            struct_pack(feature := 'ends_in_error', is_number := false, value := cast(ends_in_error as double)),
            struct_pack(feature := 'ends_on_tool', is_number := false, value := cast(ends_on_tool as double)),
            struct_pack(feature := 'n_repeated_calls > 0', is_number := false, value := cast(n_repeated_calls > 0 as double)),
            struct_pack(feature := 'n_malformed_calls > 0', is_number := false, value := cast(n_malformed_calls > 0 as double)),
            struct_pack(feature := 'has_guessed_address', is_number := false, value := cast(has_guessed_address as double)),
            struct_pack(feature := 'self_check = ''passed''', is_number := false, value := cast(coalesce(self_check = 'passed', false) as double)),
            struct_pack(feature := 'n_matched_actions = n_expected_actions', is_number := false, value := cast(n_matched_actions = n_expected_actions as double)),
            struct_pack(feature := 'n_unexpected_calls > 0', is_number := false, value := cast(n_unexpected_calls > 0 as double)),
            struct_pack(feature := 'n_turns', is_number := true, value := cast(n_turns as double)),
            struct_pack(feature := 'n_tool_calls', is_number := true, value := cast(n_tool_calls as double)),
            struct_pack(feature := 'n_tool_errors', is_number := true, value := cast(n_tool_errors as double)),
            struct_pack(feature := 'n_tools', is_number := true, value := cast(n_tools as double)),
            struct_pack(feature := 'output_tokens', is_number := true, value := cast(output_tokens as double)),
            struct_pack(feature := 'input_tokens', is_number := true, value := cast(input_tokens as double)),
            struct_pack(feature := 'duration_s', is_number := true, value := duration_s),
            struct_pack(feature := 'n_final_characters', is_number := true, value := cast(n_final_characters as double))
        ]) as told

    from rollouts

),

called as (

    select
        rollouts.run_id,
        rollouts.task_id,
        rollouts.rollout_index,
        rollouts.is_pass,
        'calls ' || tools.tool as feature,
        cast(calls.tool is not null as double) as value

    from rollouts

    inner join staging.common_tools as tools using (run_id)

    left join staging.called_tools as calls using (run_id, task_id, rollout_index, tool)

),

final as (

    select
        run_id,
        task_id,
        rollout_index,
        is_pass,
        told.feature as feature,
        case when told.is_number then 'number' else 'binary' end as kind,
        told.value as value

    from said

    union all

    select
        run_id,
        task_id,
        rollout_index,
        is_pass,
        feature,
        'binary' as kind,
        value

    from called

)

select * from final
