-- Every turn that a trajectory holds, and whether the agent did anything in it.
-- grain: record_id, place
-- kind: table
with trajectories as (
    select * from staging.trajectories where has_turns
),
listed as (
    select
        record_id,
        unnest(turns) as turn
    from trajectories
),
turns as (
    select
        record_id,
        turn.place as place,
        turn.turn_no as turn_no,
        turn.invocation_id as invocation_id,
        turn.answer as answer,
        turn.has_text as has_text,
        turn.has_reasoning as has_reasoning,
        turn.has_call as has_call,
        length(turn.refs) > 0 as has_reference
    from listed
),
-- A tool's call names its invocation, seldom its turn: then it may be of any turn of it.
calling as (
    select distinct turns.record_id, turns.place
    from turns
    inner join staging.trajectory_tools as tools
        on tools.record_id = turns.record_id
        and coalesce(tools.invocation_id = turns.invocation_id, true)
        and coalesce(tools.turn_no = turns.turn_no, true)
)
select
    turns.record_id,
    turns.place,
    turns.invocation_id,
    turns.answer,
    turns.has_text,
    turns.has_reasoning,
    turns.has_call or calling.place is not null as has_call,
    coalesce(turns.has_reference, false) as has_reference,
    row_number() over (
        partition by turns.record_id, subagents.invocation_id is null order by turns.place desc
    ) as rank_from_last,
    subagents.invocation_id is null as is_root
from turns
left join calling using (record_id, place)
left join staging.subagents using (record_id, invocation_id)
