-- The last call of a rollout that changed something and worked: what came before it was got over.
-- grain: record_id
with

final as (

    select
        record_id,
        max(seq) as seq

    from staging.keyed_calls

    where is_consequential and not is_error and result_seq is not null

    group by all

)

select * from final
