-- The calls of the rollouts to be contrasted, as numbers that are equal for equal calls.
-- grain: task_no, record_id, seq
-- kind: table
with rollouts as (
    select task_no, record_id
    from staging.contrast_rollouts
    where is_acting
),
-- Arguments are long: they are read once, however many tasks a rollout is contrasted in.
records as (
    select record_id from rollouts group by record_id
),
calls as (
    select
        calls.record_id,
        calls.seq,
        calls.tool,
        calls.call_key as call,
        calls.result_seq,
        calls.is_error
    from staging.calls
    inner join records using (record_id)
)
select
    rollouts.task_no,
    calls.record_id,
    calls.seq,
    calls.tool,
    calls.call,
    calls.result_seq,
    calls.is_error,
    -- Made more than once in all repeats: only then is there anything to compare it with.
    count(*) over (partition by rollouts.task_no, calls.call) > 1 as is_comparable
from calls
inner join rollouts using (record_id)
