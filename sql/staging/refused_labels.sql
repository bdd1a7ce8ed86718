-- Labels that do not count: what they name is not there, or a later one took their place.
-- grain: record_id
with

refused as (

    select
        record_id,
        reason

    from staging.label_faults

    union all

    select
        record_id,
        'superseded by ' || winner as reason

    from staging.label_ranks

    where rank > 1

),

final as (

    select
        refused.record_id,
        refused.reason,
        labels.snippet

    from refused

    inner join raw.labels as labels using (record_id)

)

select * from final
