-- Turns of a trajectory in which the agent did nothing, and trajectories of nothing else.
-- grain: record_id, check_id, subject
with

facts as (

    select * from staging.trajectory_facts

),

final as (

    select
        record_id,
        'agent_turn_hollow' as check_id,
        'turns[' || (place - 1) || ']' as subject,
        'the turn has no answer, no reasoning and no tool call' as message,
        null as evidence

    from staging.trajectory_turns

    where not has_text and not has_reasoning and not has_call

    union all

    select
        facts.record_id,
        'rollout_missing_agent_turns' as check_id,
        '' as subject,
        'no turn has text, reasoning, a tool call or a model call' as message,
        'turns: ' || count(turns.place) as evidence

    from facts

    left join staging.trajectory_turns as turns using (record_id)

    where facts.has_turns

    group by facts.record_id

    having
        count(*) filter (
            where turns.has_text or turns.has_reasoning or turns.has_call or turns.has_reference
        ) = 0

)

select * from final
