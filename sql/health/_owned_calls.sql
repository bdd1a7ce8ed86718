-- The model calls that are the policy model's own: a turn or an invocation names just this one.
-- grain: record_id, place
-- kind: table
with owned as (
    select distinct record_id, place
    from staging.call_references
    where n_calls = 1
)
select
    calls.*,
    -- The last of a model's own calls comes first; unknown where one has no time.
    row_number() over (
        partition by calls.record_id, calls.model_ref
        order by json_as_number(calls.started_at) desc, calls.started_at desc, calls.place desc
    ) as rank_from_last,
    count(*) over same_model as n_of_model,
    count(calls.started_at) over same_model as n_timed,
    count(*) filter (where calls.is_failed) over same_model as n_failed
from staging.trajectory_calls as calls
inner join owned using (record_id, place)
window same_model as (partition by calls.record_id, calls.model_ref)
