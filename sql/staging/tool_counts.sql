-- How often a rollout calls each tool.
-- grain: record_id
with

counted as (

    select
        record_id,
        tool,
        count(*) as n_calls

    from staging.calls

    group by all

),

final as (

    select
        record_id,
        map_from_entries(list(struct_pack(key := tool, value := n_calls) order by tool))
            as calls_by_tool

    from counted

    group by all

)

select * from final
