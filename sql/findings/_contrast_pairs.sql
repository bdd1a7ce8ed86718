-- A failing rollout beside the closest passing one: what is recorded where they diverge, what else differs.
-- grain: task_no, record_id
-- looks at: task
-- kind: table
-- needs: staging.contrast_rollouts
-- computed by: pipeline.analysis.contrasts.contrasts from compared_steps
-- columns: task_no, record_id, passing_record_id, is_closest, n_common, difference, seq, passing_seq, result_seq, passing_result_seq, skipped_seq, other_seq, tools_only_failing, tools_only_passing
with
-- Which calls change something: those of tools that are declared to; any, where nothing is declared.
reading as (
    select distinct
        run_id,
        tool
    from main.expected_calls
    where not is_write
),
kinds as (
    select
        record_id,
        seq,
        if(reading.tool is null, 'write', 'read') as kind
    from staging.calls
    inner join staging.contrast_rollouts using (record_id)
    left join reading using (run_id, tool)
),
calls as materialized (
    select
        task_no,
        record_id,
        seq,
        tool,
        is_pass,
        call_key as call,
        result_seq,
        is_error,
        result_seq is not null and not is_error as has_succeeded,
        -- Made more than once in all repeats: only then is there anything to compare it with.
        count(*) over (partition by task_no, call_key) > 1 as is_comparable,
        coalesce(seq < max(if(is_error, null, seq)) over (partition by task_no, record_id, tool), false)
            as is_followed,
        bool_or(is_pass and not is_error) over (partition by task_no, tool) as is_passing_tool,
        bool_or(is_pass and not is_error) over (partition by task_no, call_key) as is_passing_call
    from staging.calls
    inner join (from staging.contrast_rollouts where is_acting) using (record_id)
),
-- Answers are long: only those that can be compared are read, once, and only how they begin. Words
-- with a digit in them (ids, times, counts) do not matter.
answers as (
    select
        record_id,
        seq as result_seq,
        hash(regexp_replace(left(text, 300), '\w*[0-9]\w*', '#', 'g')) as answer
    from raw.events
    semi join (select record_id, result_seq as seq from calls where is_comparable)
        using (record_id, seq)
),
judged as (
    select
        calls.*,
        if(is_comparable, answer, null) as answer,
        -- A tool of unknown kind matters only where none is known to change anything.
        coalesce(
            kinds.kind = 'write',
            kinds.seq is not null
                and not bool_or(coalesce(kinds.kind = 'write', false)) over (partition by task_no)
        ) as is_act
    from calls
    left join kinds using (record_id, seq)
    left join answers using (record_id, result_seq)
),
-- The calls by which rollouts are distinguished: without failures that a retry fixed, and needless repeats.
steps as (
    select
        task_no,
        record_id,
        seq,
        tool,
        call,
        result_seq,
        -- A call in error changes nothing; but that a pass succeeds with it, or with its tool where
        -- this rollout never does, is a difference.
        is_act and (
            not is_error
            or not is_pass and (is_passing_call or is_passing_tool and not is_followed)
        ) as is_consequential,
        -- The call together with what came of it.
        hash(concat_ws(
            ' ', cast(call as varchar), cast(is_error as varchar), cast(answer as varchar)
        )) as step
    from judged
    qualify
        case
            when not is_comparable then true
            when has_succeeded
                then row_number() over (
                    partition by task_no, record_id, call, has_succeeded, answer order by seq
                ) = 1
            else coalesce(
                max(if(has_succeeded, seq, null)) over (partition by task_no, record_id, call) < seq,
                true
            )
        end
),
-- The steps of all rollouts that are contrasted, in the order in which they are aligned.
compared_steps as (
    select
        rollouts.task_no,
        rollouts.flip_no is not null as is_flip,
        rollouts.record_id,
        rollouts.rollout_index,
        rollouts.is_pass,
        coalesce(steps.seq, 0) as seq,
        coalesce(steps.result_seq, 0) as result_seq,
        steps.tool,
        coalesce(steps.is_consequential, false) as is_consequential,
        coalesce(steps.call, 0) as call,
        coalesce(steps.step, 0) as step
    from staging.contrast_rollouts as rollouts
    left join steps using (task_no, record_id)
    where rollouts.is_acting
    order by rollouts.task_no, rollouts.rollout_index, rollouts.record_id, steps.seq
),
matches as (
    from temp.contrasts
    union all by name
    -- Where no repeat calls a tool there is nothing to align, and the first of them represent all.
    select
        failing.task_no,
        failing.record_id,
        passing.record_id as passing_record_id,
        failing.is_first as is_closest,
        0 as n_common,
        'answer' as difference,
        []::varchar[] as tools_only_failing,
        []::varchar[] as tools_only_passing
    from staging.contrast_rollouts as failing
    inner join staging.contrast_rollouts as passing using (task_no)
    where not failing.is_pass and passing.is_pass and passing.is_first and not failing.is_acting
),
-- Every call that is made, retries and repeats too, in order.
in_order as (
    select
        task_no,
        record_id,
        seq,
        call,
        row_number() over (partition by task_no, record_id order by seq) as nth
    from calls
),
-- With how many calls both begin: the same tool and arguments, one by one, before what tells them apart.
beginnings as (
    select
        matches.task_no,
        matches.record_id,
        coalesce(
            min(failing.nth) filter (
                where
                    failing.call is distinct from passing.call
                    or coalesce(failing.seq >= matches.seq, false)
                    or coalesce(passing.seq >= matches.passing_seq, false)
            ) - 1,
            count(*)
        ) as n_common_first
    from matches
    inner join in_order as failing
        on failing.task_no = matches.task_no
        and failing.record_id = matches.record_id
    left join in_order as passing
        on passing.task_no = matches.task_no
        and passing.record_id = matches.passing_record_id
        and passing.nth = failing.nth
    group by all
),
-- A side that makes no further call is cited by how it ends.
pairs as (
    select
        matches.* exclude (seq, passing_seq),
        coalesce(beginnings.n_common_first, 0) as n_common_first,
        failing.flip_no,
        failing.run_id,
        failing.task_id,
        failing.rollout_index,
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
    left join beginnings
        on beginnings.task_no = matches.task_no
        and beginnings.record_id = matches.record_id
    inner join staging.contrast_rollouts as failing
        on failing.task_no = matches.task_no
        and failing.record_id = matches.record_id
    inner join staging.contrast_rollouts as passing
        on passing.task_no = matches.task_no
        and passing.record_id = matches.passing_record_id
),
-- Equal calls are distinguished by what came of them.
placed as materialized (
    select
        *,
        if(difference = 'result', coalesce(result_seq, seq), seq) as failing_place,
        if(difference = 'result', coalesce(passing_result_seq, passing_seq), passing_seq)
            as passing_place
    from pairs
),
-- What is recorded where two rollouts diverge.
events as materialized (
    select
        record_id,
        seq,
        case when kind = 'tool_call' then tool end as called,
        coalesce(if(kind = 'tool_call', arguments, coalesce(words, text)), '') as content,
        case when kind = 'tool_call' then json_fields(try(json_normalize(arguments))) end as fields
    from raw.events
    semi join (
        select
            record_id,
            failing_place as seq
        from placed
        union all
        select
            passing_record_id,
            passing_place
        from placed
    ) using (record_id, seq)
),
beside as (
    select
        placed.* exclude (result_seq, passing_result_seq, failing_place, passing_place),
        {seq: failing.seq, called: failing.called, content: failing.content} as failing_side,
        {seq: passing.seq, called: passing.called, content: passing.content} as passing_side,
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
    beside.* exclude (passing_record_id, difference, failing_side, passing_side, arguments),
    case
        when difference = 'answer' and failing_texts.final_text is not distinct from passing_texts.final_text
            then 'nothing'
        else difference
    end as difference,
    arguments,
    event_shown(
        failing_side,
        passing_side,
        list_transform(arguments, lambda each: each.name || ': ' || coalesce(each.failing, 'not given'))
    ) as failing_event,
    event_shown(
        passing_side,
        failing_side,
        list_transform(arguments, lambda each: each.name || ': ' || coalesce(each.passing, 'not given'))
    ) as passing_event,
    length(coalesce(failing_side.called || ' ', '') || failing_side.content) as failing_chars,
    length(coalesce(passing_side.called || ' ', '') || passing_side.content) as passing_chars,
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
