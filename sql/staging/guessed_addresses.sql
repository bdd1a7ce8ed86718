-- Addresses in a call's arguments that nothing the rollout had read contains, nor nearly contains.
-- grain: record_id, seq, address
-- kind: table
with

candidates as (

    select
        calls.run_id,
        calls.task_id,
        calls.record_id,
        calls.seq,
        unnest(argument_addresses(calls.arguments)) as address

    from staging.keyed_calls as calls

    where regexp_matches(calls.arguments, '@')

),

-- What had been read: the question, and every word that was not the model's own.
questions as (

    select
        candidates.record_id,
        0 as seq,
        concat_ws(' ', prompts.system_prompt, prompts.prompt) as text

    from candidates

    inner join main.rollouts as rollouts using (record_id)

    inner join main.task_prompts as prompts
        on prompts.run_id = rollouts.run_id
        and prompts.task_id = rollouts.task_id
        and prompts.prompt_sha = rollouts.prompt_sha

    group by all

),

answers as (

    select
        events.record_id,
        events.seq,
        events.text

    from raw.events as events

    where
        (events.kind = 'tool_result' or (events.kind = 'message' and events.role in ('user', 'system')))
        and events.record_id in (select record_id from candidates)

),

sources as (

    select * from questions

    union all

    select * from answers

),

seen as (

    select
        record_id,
        seq,
        unnest(addresses(text)) as address

    from sources

    where regexp_matches(text, '@')

),

final as (

    select
        candidates.record_id,
        candidates.seq,
        candidates.address

    from candidates

    left join seen
        on seen.record_id = candidates.record_id
        and seen.seq < candidates.seq
        and is_nearly(local_part(seen.address), local_part(candidates.address))

    group by candidates.record_id, candidates.seq, candidates.address

    having count(seen.address) = 0

)

select * from final
