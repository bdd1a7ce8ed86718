-- What the errors of a rollout's tools say: the first call of a tool that does not exist.
-- grain: record_id
with

final as (

    select
        errors.record_id,
        count(*) filter (where errors.is_unknown_tool) as n_unknown_tool_calls,
        -- Got over, where anything that counts came after it.
        min(errors.seq) filter (
            where errors.is_unknown_tool and errors.seq > coalesce(counted.seq, 0)
        ) as unknown_tool_seq,
        max_by(errors.message, errors.seq) as last_error,
        max_by(errors.signature, errors.seq) as last_error_signature

    from staging.call_errors as errors

    left join staging.last_counted_calls as counted using (record_id)

    group by errors.record_id

)

select * from final
