-- Every tool call that a trajectory holds.
-- grain: record_id, place
-- kind: table
with listed as (
    select
        record_id,
        unnest(tools) as tool
    from staging.trajectories
    where is_observed and tools is not null
)
select
    record_id,
    tool.place as place,
    tool.invocation_id as invocation_id,
    tool.turn_no as turn_no,
    tool.tool as tool
from listed
