-- The model calls that turns and invocations name as their own, and how many calls answer to each.
-- grain: record_id, model_call_id, model_ref, response_id
-- kind: table
with trajectories as (
    select * from staging.trajectories where has_calls
),
owners as (
    select
        record_id,
        unnest(turns) as owner
    from trajectories
    where turns is not null
),
invocations as (
    select
        record_id,
        unnest(invocations) as owner
    from trajectories
    where invocations is not null
),
listed as (
    select
        record_id,
        unnest(owner.refs) as reference
    from owners
    union all
    select
        record_id,
        unnest(owner.refs) as reference
    from invocations
),
named as (
    select distinct
        record_id,
        reference.model_call_id as model_call_id,
        reference.model_ref as model_ref,
        reference.response_id as response_id
    from listed
)
select
    named.record_id,
    named.model_call_id,
    named.model_ref,
    named.response_id,
    count(calls.place) as n_calls,
    min(calls.place) as place
from named
-- An id says it alone, unless the rest of the reference is of another call.
left join staging.trajectory_calls as calls
    on calls.record_id = named.record_id
    and case
        when named.model_call_id is null
            then calls.model_ref = named.model_ref and calls.response_id = named.response_id
        else
            calls.model_call_id = named.model_call_id
            and coalesce(calls.model_ref = named.model_ref, true)
            and coalesce(calls.response_id = named.response_id, true)
    end
group by all
