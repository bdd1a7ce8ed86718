-- The calls of the rollouts to be contrasted, as numbers that are equal for equal calls.
-- grain: record_id, seq
-- kind: table
with

calls as (

    select
        rollouts.task_no,
        calls.record_id,
        calls.seq,
        calls.tool,
        call_key(calls.tool, calls.arguments) as call,
        calls.result_seq,
        calls.is_error

    from staging.calls as calls

    inner join staging.contrast_rollouts as rollouts using (record_id)

    where rollouts.is_acting

),

final as (

    select
        record_id,
        seq,
        tool,
        call,
        result_seq,
        is_error,
        -- Made more than once in all repeats: only then is there anything to compare it with.
        count(*) over (partition by task_no, call) > 1 as is_comparable

    from calls

)

select * from final
