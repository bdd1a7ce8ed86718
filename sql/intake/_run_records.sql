-- Every row with the run it belongs to.
-- grain: record_id
with
-- A family with one run takes every row, whatever agent the row names or leaves out.
single as (
    select run_name
    from staging.run_keys
    group by run_name
    having count(*) = 1
)
select
    run_keys.run_id,
    records.*
from staging.records
left join single using (run_name)
inner join staging.run_keys
    on run_keys.run_name = records.run_name
    and run_keys.agent_key = case when single.run_name is null then coalesce(records.agent, '') else run_keys.agent_key end
