-- A failing rollout and a passing one, told: what stands where they part, and what else differs.
-- grain: task_no, record_id
with failing as (
    select * from staging.contrast_rollouts where not is_pass
),
passing as (
    select * from staging.contrast_rollouts where is_pass
),
-- Failing rollouts, each with the closest passing one of its task, and where their calls part.
contrast_matches as (
    select
        task_no,
        record_id,
        passing_record_id,
        is_closest,
        n_common,
        n_common_first,
        difference,
        seq,
        passing_seq,
        result_seq,
        passing_result_seq,
        skipped_seq,
        tools_only_failing,
        tools_only_passing
    from staging.aligned_contrasts
    union all
    -- Where no repeat calls a tool there is nothing to align, and the first of them stand for all.
    select
        failing.task_no,
        failing.record_id,
        passing.record_id as passing_record_id,
        failing.is_first as is_closest,
        0 as n_common,
        0 as n_common_first,
        'answer' as difference,
        null as seq,
        null as passing_seq,
        null as result_seq,
        null as passing_result_seq,
        null as skipped_seq,
        no_texts() as tools_only_failing,
        no_texts() as tools_only_passing
    from failing
    inner join passing
        on passing.task_no = failing.task_no
        and passing.is_first
    where not failing.is_acting
),
-- A side that makes no further call is cited by how it ends.
placed as (
    select
        matches.*,
        failing.flip_no,
        failing.run_id,
        failing.task_id,
        failing.rollout_index,
        passing.rollout_index as passing_index,
        failing.n_calls,
        passing.n_calls as n_passing_calls,
        case
            when matches.seq is not null then matches.seq
            when matches.difference = 'stop' then failing.stop_seq
            else failing.final_seq
        end as failing_place,
        coalesce(matches.passing_seq, passing.final_seq) as passing_place
    from contrast_matches as matches
    inner join staging.contrast_rollouts as failing
        on failing.task_no = matches.task_no
        and failing.record_id = matches.record_id
    inner join staging.contrast_rollouts as passing
        on passing.task_no = matches.task_no
        and passing.record_id = matches.passing_record_id
),
-- Each failing rollout beside its closest passing one, with the events at which they part.
contrast_pairs as materialized (
    select
        task_no,
        flip_no,
        run_id,
        task_id,
        rollout_index,
        record_id,
        passing_index,
        passing_record_id,
        is_closest,
        n_calls,
        n_passing_calls,
        n_common,
        n_common_first,
        difference,
        failing_place as seq,
        passing_place as passing_seq,
        -- What tells equal calls apart is what came of them.
        case when difference = 'result' then coalesce(result_seq, seq) else failing_place end
            as shown_seq,
        case
            when difference = 'result' then coalesce(passing_result_seq, passing_seq)
            else passing_place
        end as passing_shown_seq,
        skipped_seq,
        tools_only_failing,
        tools_only_passing
    from placed
),
places as (
    select
        record_id,
        shown_seq as seq
    from contrast_pairs
    union
    select
        passing_record_id as record_id,
        passing_shown_seq as seq
    from contrast_pairs
),
texts as (
    select
        events.record_id,
        events.seq,
        case
            when events.kind = 'tool_call' then concat_ws(' ', events.tool, events.arguments)
            else coalesce(events.text, '')
        end as text
    from raw.events
    inner join places using (record_id, seq)
),
-- What stands where two rollouts part: the beginning of the event, and how long it is.
contrast_events as materialized (
    select
        record_id,
        seq,
        left(text, 300) as beginning,
        length(text) as n_chars
    from texts
)
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
from contrast_pairs as pairs
inner join main.rollouts as failing
    on failing.record_id = pairs.record_id
inner join main.rollouts as passing
    on passing.record_id = pairs.passing_record_id
left join contrast_events as failing_events
    on failing_events.record_id = pairs.record_id
    and failing_events.seq = pairs.shown_seq
left join contrast_events as passing_events
    on passing_events.record_id = pairs.passing_record_id
    and passing_events.seq = pairs.passing_shown_seq
