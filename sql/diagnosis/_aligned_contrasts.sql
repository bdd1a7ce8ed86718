-- Where each failing rollout that calls tools diverges from the closest passing one.
-- grain: task_no, record_id
-- kind: table
-- needs: staging.contrast_rollouts where is_acting
with calls as (
    select
        task_no,
        record_id,
        seq,
        tool,
        call_key as call,
        result_seq,
        is_error,
        result_seq is not null and not is_error as has_succeeded,
        -- Made more than once in all repeats: only then is there anything to compare it with.
        count(*) over (partition by task_no, call_key) > 1 as is_comparable
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
        if(is_comparable, answer, null) as answer
    from calls
    left join answers using (record_id, result_seq)
),
-- The calls that tell rollouts apart: without failures that a retry fixed, and needless repeats.
steps as (
    select
        task_no,
        record_id,
        seq,
        tool,
        call,
        result_seq,
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
    rollouts.record_id,
    rollouts.rollout_index,
    rollouts.is_pass,
    steps.seq,
    steps.result_seq,
    steps.tool,
    steps.call,
    steps.step
from staging.contrast_rollouts as rollouts
left join steps using (task_no, record_id)
where rollouts.is_acting
order by rollouts.task_no, rollouts.rollout_index, rollouts.record_id, steps.seq
