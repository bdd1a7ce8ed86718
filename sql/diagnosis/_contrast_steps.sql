-- The calls that tell rollouts apart: without failures that a retry mended, and needless repeats.
-- grain: task_no, record_id, seq
-- kind: table
with results as (
    select record_id, result_seq
    from staging.contrast_calls as calls
    where is_comparable
    group by record_id, result_seq
),
-- Answers are long: only those that can be compared are read, once, and only how they begin.
answers as (
    select
        results.record_id,
        results.result_seq,
        masked_key(left(events.text, 300)) as answer
    from results
    inner join raw.events
        on events.record_id = results.record_id
        and events.seq = results.result_seq
),
judged as (
    select
        calls.*,
        answers.answer,
        calls.result_seq is not null and not calls.is_error as has_succeeded
    from staging.contrast_calls as calls
    left join answers
        on answers.record_id = calls.record_id
        and answers.result_seq = calls.result_seq
        and calls.is_comparable
),
compared as (
    select
        *,
        max(case when has_succeeded then seq end) over (partition by task_no, record_id, call)
            as last_success,
        row_number() over (
            partition by task_no, record_id, call, has_succeeded, answer
            order by seq
        ) as answer_no
    from judged
    where is_comparable
),
kept as (
    select judged.*
    from judged
    left join compared using (task_no, record_id, seq)
    where
        case
            when not judged.is_comparable then true
            when judged.has_succeeded then compared.answer_no = 1
            else compared.last_success is null or compared.last_success < judged.seq
        end
)
select
    task_no,
    record_id,
    seq,
    tool,
    call,
    result_seq,
    -- The call together with what came of it.
    text_key(concat_ws(
        ' ', cast(call as varchar), cast(is_error as varchar), cast(answer as varchar)
    )) as step
from kept
