-- Where each failing rollout that calls tools diverges from the closest passing one.
-- grain: task_no, record_id
-- kind: step
-- needs: staging.contrast_rollouts where is_acting
-- computed by: pipeline.analysis.contrasts.contrasts
-- columns: task_no, record_id, passing_record_id, is_closest, n_common, n_common_first, difference, seq, passing_seq, result_seq, passing_result_seq, skipped_seq, other_seq, tools_only_failing, tools_only_passing
-- Which calls change something: those of tools that are declared to; any, where nothing is declared.
with reading as (
    select distinct run_id, tool
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
        task_no, record_id, seq, tool, is_pass,
        call_key as call,
        result_seq, is_error,
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
-- The calls that tell rollouts apart: without failures that a retry fixed, and needless repeats.
steps as (
    select
        task_no, record_id, seq, tool, call, result_seq,
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
)
select
    rollouts.task_no,
    rollouts.flip_no is not null as is_flip,
    rollouts.record_id, rollouts.rollout_index, rollouts.is_pass,
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
