-- Every row with the run it belongs to.
-- grain: record_id
with

records as (

    select * from staging.records

),

run_keys as (

    select * from staging.run_keys

),

-- A family with one run takes every row, whatever agent the row names or leaves out.
single as (

    select run_name

    from run_keys

    group by run_name

    having count(*) = 1

),

final as (

    select
        run_keys.run_id,
        records.*

    from records

    left join single using (run_name)

    inner join run_keys
        on run_keys.run_name = records.run_name
        and run_keys.agent_key = case when single.run_name is null then coalesce(records.agent, '') else run_keys.agent_key end

)

select * from final
