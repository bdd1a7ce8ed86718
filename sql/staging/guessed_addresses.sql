-- Addresses in a call's arguments that nothing the rollout had read contains, nor nearly contains.
-- grain: record_id, seq, address
-- kind: table
with

candidates as (

    select
        calls.record_id,
        calls.seq,
        unnest(argument_addresses(calls.arguments)) as address

    from staging.keyed_calls as calls

    where regexp_matches(calls.arguments, '@')

),

writers as (

    select record_id

    from candidates

    group by all

),

-- What had been read: the question, and every word that was not the model's own.
sources as (

    select
        writers.record_id,
        0 as seq,
        concat_ws(' ', prompts.system_prompt, prompts.prompt) as text

    from writers

    inner join main.rollouts as rollouts using (record_id)

    inner join main.task_prompts as prompts
        on prompts.run_id = rollouts.run_id
        and prompts.task_id = rollouts.task_id
        and prompts.prompt_sha = rollouts.prompt_sha

    union all

    select
        events.record_id,
        events.seq,
        events.text

    from raw.events as events

    inner join writers using (record_id)

    where events.kind = 'tool_result' or (events.kind = 'message' and events.role in ('user', 'system'))

),

found as (

    select
        record_id,
        seq,
        unnest(addresses(text)) as address

    from sources

    where regexp_matches(text, '@')

),

seen as (

    select
        record_id,
        local_part(address) as name,
        min(seq) as seq

    from found

    group by all

),

unseen as (

    select
        candidates.record_id,
        candidates.seq,
        candidates.address

    from candidates

    left join seen
        on seen.record_id = candidates.record_id
        and seen.name = local_part(candidates.address)
        and seen.seq < candidates.seq

    where seen.name is null

),

-- Every unseen address is held against every one that was read: of lists of thousands nothing is said.
sizes as (

    select
        unseen.record_id,
        count(*) as n_unseen,
        coalesce(max(counted.n_seen), 0) as n_seen

    from unseen

    left join (

        select
            record_id,
            count(*) as n_seen

        from seen

        group by all

    ) as counted using (record_id)

    group by unseen.record_id

),

final as (

    select
        unseen.record_id,
        unseen.seq,
        unseen.address

    from unseen

    inner join sizes using (record_id)

    left join seen
        on seen.record_id = unseen.record_id
        and seen.seq < unseen.seq
        and is_nearly(seen.name, local_part(unseen.address))

    where sizes.n_unseen * sizes.n_seen <= 20000

    group by unseen.record_id, unseen.seq, unseen.address

    having count(seen.name) = 0

)

select * from final
