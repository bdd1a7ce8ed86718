-- A failing rollout and a passing one, told: what stands where they part, and what else differs.
-- grain: task_no, record_id
with

rollouts as (

    select * from main.rollouts

),

pairs as (

    select * from staging.contrast_pairs

),

events as (

    select * from staging.contrast_events

),

final as (

    select
        pairs.task_no,
        pairs.record_id,
        pairs.flip_no,
        pairs.run_id,
        pairs.task_id,
        pairs.rollout_index,
        passing.run_id as passing_run_id,
        pairs.passing_index,
        pairs.is_closest,
        pairs.n_calls,
        pairs.n_passing_calls,
        pairs.n_common,
        pairs.n_common_first,
        case
            when
                pairs.difference = 'answer'
                and failing.final_text is not distinct from passing.final_text
                then 'nothing'
            else pairs.difference
        end as difference,
        pairs.seq,
        pairs.passing_seq,
        failing_events.beginning as failing_event,
        passing_events.beginning as passing_event,
        failing_events.n_chars as failing_chars,
        passing_events.n_chars as passing_chars,
        pairs.skipped_seq,
        pairs.tools_only_failing,
        pairs.tools_only_passing,
        concat_ws(
            '; ',
            difference_text('n_turns', failing.n_turns, passing.n_turns),
            difference_text('n_tool_calls', failing.n_tool_calls, passing.n_tool_calls),
            difference_text('n_tool_errors', failing.n_tool_errors, passing.n_tool_errors),
            difference_text('output_tokens', failing.output_tokens, passing.output_tokens),
            difference_text('is_truncated', failing.is_truncated, passing.is_truncated),
            difference_text('final_chars', length(failing.final_text), length(passing.final_text))
        ) as differences

    from pairs

    inner join rollouts as failing
        on failing.record_id = pairs.record_id

    inner join rollouts as passing
        on passing.record_id = pairs.passing_record_id

    left join events as failing_events
        on failing_events.record_id = pairs.record_id
        and failing_events.seq = pairs.shown_seq

    left join events as passing_events
        on passing_events.record_id = pairs.passing_record_id
        and passing_events.seq = pairs.passing_shown_seq

)

select * from final
