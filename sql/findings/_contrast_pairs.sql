-- A failing rollout beside the closest passing one: what stands where they diverge, what else differs.
-- grain: task_no, record_id
-- kind: table
-- needs: staging.contrast_rollouts
with matches as (
    from staging.aligned_contrasts
    union all by name
    -- Where no repeat calls a tool there is nothing to align, and the first of them stand for all.
    select
        failing.task_no, failing.record_id,
        passing.record_id as passing_record_id,
        failing.is_first as is_closest,
        0 as n_common,
        0 as n_common_first,
        'answer' as difference,
        []::varchar[] as tools_only_failing,
        []::varchar[] as tools_only_passing
    from staging.contrast_rollouts as failing
    inner join staging.contrast_rollouts as passing using (task_no)
    where not failing.is_pass and passing.is_pass and passing.is_first and not failing.is_acting
),
-- A side that makes no further call is cited by how it ends.
pairs as (
    select
        matches.* exclude (seq, passing_seq),
        failing.flip_no, failing.run_id, failing.task_id, failing.rollout_index,
        passing.run_id as passing_run_id,
        passing.rollout_index as passing_index,
        failing.n_calls,
        passing.n_calls as n_passing_calls,
        coalesce(
            matches.seq, if(matches.difference = 'missing', failing.stop_seq, failing.final_seq)
        ) as seq,
        coalesce(
            matches.passing_seq, if(matches.difference = 'extra', passing.stop_seq, passing.final_seq)
        ) as passing_seq
    from matches
    inner join staging.contrast_rollouts as failing
        on failing.task_no = matches.task_no
        and failing.record_id = matches.record_id
    inner join staging.contrast_rollouts as passing
        on passing.task_no = matches.task_no
        and passing.record_id = matches.passing_record_id
),
-- What tells equal calls apart is what came of them.
placed as materialized (
    select
        *,
        if(difference = 'result', coalesce(result_seq, seq), seq) as failing_place,
        if(difference = 'result', coalesce(passing_result_seq, passing_seq), passing_seq)
            as passing_place
    from pairs
),
-- What stands where two rollouts diverge.
events as materialized (
    select
        record_id, seq,
        case when kind = 'tool_call' then tool end as called,
        coalesce(if(kind = 'tool_call', arguments, coalesce(words, text)), '') as said,
        case when kind = 'tool_call' then json_fields(try(json_normalize(arguments))) end as fields
    from raw.events
    semi join (
        select record_id, failing_place as seq from placed
        union all
        select passing_record_id, passing_place from placed
    ) using (record_id, seq)
),
beside as (
    select
        placed.* exclude (result_seq, passing_result_seq, failing_place, passing_place),
        {seq: failing.seq, called: failing.called, said: failing.said} as failing_said,
        {seq: passing.seq, called: passing.called, said: passing.said} as passing_said,
        case
            when difference = 'arguments' then list_transform(
                argument_differences(failing.fields, passing.fields, 120),
                lambda each: {name: each.name, failing: each.one, passing: each.other}
            )
        end as arguments
    from placed
    left join events as failing
        on failing.record_id = placed.record_id
        and failing.seq = placed.failing_place
    left join events as passing
        on passing.record_id = placed.passing_record_id
        and passing.seq = placed.passing_place
)
select
    beside.* exclude (passing_record_id, difference, failing_said, passing_said, arguments),
    case
        when difference = 'answer' and failing_texts.final_text is not distinct from passing_texts.final_text
            then 'nothing'
        else difference
    end as difference,
    arguments,
    event_shown(
        failing_said,
        passing_said,
        list_transform(arguments, lambda each: each.name || ': ' || coalesce(each.failing, 'not given'))
    ) as failing_event,
    event_shown(
        passing_said,
        failing_said,
        list_transform(arguments, lambda each: each.name || ': ' || coalesce(each.passing, 'not given'))
    ) as passing_event,
    length(coalesce(failing_said.called || ' ', '') || failing_said.said) as failing_chars,
    length(coalesce(passing_said.called || ' ', '') || passing_said.said) as passing_chars,
    array_to_string(
        list_transform(
            list_filter(
                [
                    {name: 'n_turns', failing: failing.n_turns::varchar, passing: passing.n_turns::varchar},
                    {name: 'n_tool_calls', failing: failing.n_tool_calls::varchar, passing: passing.n_tool_calls::varchar},
                    {name: 'n_tool_errors', failing: failing.n_tool_errors::varchar, passing: passing.n_tool_errors::varchar},
                    {name: 'output_tokens', failing: failing.output_tokens::varchar, passing: passing.output_tokens::varchar},
                    {name: 'is_truncated', failing: failing.is_truncated::varchar, passing: passing.is_truncated::varchar},
                    {
                        name: 'final_chars',
                        failing: length(failing_texts.final_text)::varchar,
                        passing: length(passing_texts.final_text)::varchar
                    }
                ],
                lambda each: each.failing is distinct from each.passing
            ),
            lambda each: each.name || ' ' || coalesce(each.failing, 'n/a') || ' vs '
                || coalesce(each.passing, 'n/a')
        ),
        '; '
    ) as differences
from beside
inner join staging.rollouts as failing
    on failing.record_id = beside.record_id
inner join staging.rollouts as passing
    on passing.record_id = beside.passing_record_id
left join staging.final_texts as failing_texts
    on failing_texts.record_id = beside.record_id
left join staging.final_texts as passing_texts
    on passing_texts.record_id = beside.passing_record_id
