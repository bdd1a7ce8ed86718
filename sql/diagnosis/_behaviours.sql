-- What each rollout of a sometimes-pass task did, one row per feature; a null value is unknown.
-- grain: run_id, task_id, rollout_index, feature
with rollouts as (
    select features.*
    from main.rollout_features as features
    semi join (from main.task_outcomes where bucket = 'sometimes') using (run_id, task_id)
    where is_pass is not null
),
-- A feature is named by what it asks of rollout_features.
asked as (
    select
        run_id,
        task_id,
        rollout_index,
        is_pass,
        unnest(
            map_entries(map {
                'is_truncated': is_truncated,
                'has_action': has_action,
                'has_feedback': has_feedback,
                'has_answer': has_answer,
                'is_refusal': is_refusal,
                'n_tool_errors > 0': n_tool_errors > 0,
                'longest_error_streak > 1': longest_error_streak > 1,
                'ends_in_error': ends_in_error,
                'ends_on_tool': ends_on_tool,
                'n_repeated_calls > 0': n_repeated_calls > 0,
                'n_malformed_calls > 0': n_malformed_calls > 0,
                'has_guessed_address': has_guessed_address,
                'self_check = ''passed''': coalesce(self_check = 'passed', false),
                'n_matched_actions = n_expected_actions': n_matched_actions = n_expected_actions,
                'n_unexpected_calls > 0': n_unexpected_calls > 0
            })
        ) as is_so,
        unnest(
            map_entries(map {
                'n_turns': n_turns,
                'n_tool_calls': n_tool_calls,
                'n_tool_errors': n_tool_errors,
                'n_tools': n_tools,
                'output_tokens': output_tokens,
                'input_tokens': input_tokens,
                'duration_s': duration_s,
                'n_final_characters': n_final_characters
            })
        ) as number
    from rollouts
),
-- The tools that most rollouts of a run call, thirty at most: rarer ones separate nothing.
tools as (
    select run_id, tool
    from (select distinct record_id, tool from staging.calls)
    inner join staging.rollout_keys using (record_id)
    group by run_id, tool
    qualify row_number() over (partition by run_id order by count(*) desc, tool) <= 30
)
select
    run_id,
    task_id,
    rollout_index,
    is_pass,
    is_so.key as feature,
    'binary' as kind,
    cast(is_so.value as double) as value
from asked
where is_so is not null
union all
select
    run_id,
    task_id,
    rollout_index,
    is_pass,
    number.key as feature,
    'number' as kind,
    cast(number.value as double) as value
from asked
where number is not null
union all
select
    run_id,
    task_id,
    rollout_index,
    is_pass,
    'calls ' || tool as feature,
    'binary' as kind,
    cast(calls_by_tool[tool] is not null as double) as value
from rollouts
inner join tools using (run_id)
