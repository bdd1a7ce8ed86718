-- How many tool results of a row report an error.
-- grain: record_id
with

final as (

    select
        record_id,
        count(*) filter (where is_error) as n_tool_errors

    from raw.events

    where kind = 'tool_result'

    group by all

)

select * from final
