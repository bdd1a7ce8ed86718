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
        run_id, task_id, rollout_index,
        is_pass,
        unnest([
            {'key': 'is_truncated', 'value': is_truncated},
            {'key': 'has_action', 'value': has_action},
            {'key': 'has_feedback', 'value': has_feedback},
            {'key': 'has_answer', 'value': has_answer},
            {'key': 'is_refusal', 'value': is_refusal},
            {'key': 'n_tool_errors > 0', 'value': n_tool_errors > 0},
            {'key': 'longest_error_streak > 1', 'value': longest_error_streak > 1},
            {'key': 'ends_in_error', 'value': ends_in_error},
            {'key': 'ends_on_tool', 'value': ends_on_tool},
            {'key': 'n_repeated_calls > 0', 'value': n_repeated_calls > 0},
            {'key': 'n_malformed_calls > 0', 'value': n_malformed_calls > 0},
            {'key': 'has_guessed_address', 'value': has_guessed_address},
            {'key': 'self_check = ''passed''', 'value': coalesce(self_check = 'passed', false)},
            {'key': 'n_matched_actions = n_expected_actions', 'value': n_matched_actions = n_expected_actions},
            {'key': 'n_unexpected_calls > 0', 'value': n_unexpected_calls > 0}
        ]) as is_so
    from rollouts
),
numbers as (
    select
        run_id, task_id, rollout_index,
        is_pass,
        unnest([
            {'key': 'n_turns', 'value': n_turns},
            {'key': 'n_tool_calls', 'value': n_tool_calls},
            {'key': 'n_tool_errors', 'value': n_tool_errors},
            {'key': 'n_tools', 'value': n_tools},
            {'key': 'output_tokens', 'value': output_tokens},
            {'key': 'input_tokens', 'value': input_tokens},
            {'key': 'duration_s', 'value': duration_s},
            {'key': 'n_final_characters', 'value': n_final_characters}
        ]) as number
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
    run_id, task_id, rollout_index,
    is_pass,
    is_so.key as feature,
    'binary' as kind,
    cast(is_so.value as double) as value
from asked
union all
select
    run_id, task_id, rollout_index,
    is_pass,
    number.key as feature,
    'number' as kind,
    cast(number.value as double) as value
from numbers
union all
select
    run_id, task_id, rollout_index,
    is_pass,
    'calls ' || tool as feature,
    'binary' as kind,
    cast(calls_by_tool[tool] is not null as double) as value
from rollouts
inner join tools using (run_id)
