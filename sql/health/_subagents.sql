-- Invocations that another one started: what they do does not show in the row's own response.
-- grain: record_id, invocation_id
with listed as (
    select
        record_id,
        unnest(invocations) as invocation
    from staging.trajectories
    where is_observed and invocations is not null
)
select distinct
    record_id,
    invocation.invocation_id as invocation_id
from listed
where invocation.parent_id is not null and invocation.invocation_id is not null
