-- One model, agent or checkpoint at one benchmark: the rows of one rollout file or its shards.
-- grain: run_id
-- kind: table
with

run_keys as (

    select * from staging.run_keys

),

counts as (

    select * from staging.run_counts

),

facts as (

    select * from staging.run_facts

),

settings as (

    select
        run_id,
        max(value) filter (where name = 'notes') as notes,
        coalesce(
            max(value) filter (where name = 'policy_model_name'),
            max(value) filter (where name = 'model_name'),
            max(value) filter (where name = 'model'),
            max(value) filter (where name = 'model_id')
        ) as model,
        coalesce(
            max(value) filter (where name in ('checkpoint', 'checkpoint_path')),
            max(value) filter (where name in ('ckpt', 'ckpt_path')),
            max(value) filter (where name in ('step', 'global_step'))
        ) as checkpoint,
        max(value) filter (where name = 'temperature') as temperature,
        max(value) filter (where name = 'top_p') as top_p,
        max(value) filter (where name in ('max_output_tokens', 'max_tokens')) as max_output_tokens,
        max(value) filter (where name in ('num_repeats', 'n_repeats')) as n_repeats,
        string_agg(json_pair(name, value), ', ' order by name) filter (
            where regexp_matches(name, '^(max_turns|max_steps|max_tool|max_model|timeout|time_|limit|task_)')
        ) as limits

    from staging.run_settings

    group by all

),

-- By the file's name: a run may have been given any other.
unsafe as (

    select run_name

    from raw.files

    where kind = 'rollouts' and regexp_matches(path, '(^|/)unsafe_[^/]*$')

    group by all

),

final as (

    select
        run_keys.run_id,
        run_benchmarks.benchmark,
        coalesce(facts.model, model_name(settings.model), run_keys.run_id) as model,
        coalesce(settings.checkpoint, checkpoint_mark(run_keys.run_name)) as checkpoint,
        run_keys.agent,
        counts.n_tasks,
        counts.n_rollouts,
        counts.n_expected,
        counts.expected_source,
        case
            when counts.n_expected is not null then counts.n_repeats
            else coalesce(try_cast(settings.n_repeats as bigint), counts.n_repeats)
        end as n_repeats,
        coalesce(facts.n_scored, 0) as n_scored,
        thresholds.pass_threshold,
        as_json('{' || concat_ws(
            ', ',
            json_pair('temperature', coalesce(cast(facts.temperature as varchar), settings.temperature)),
            json_pair('top_p', coalesce(cast(facts.top_p as varchar), settings.top_p)),
            json_pair(
                'max_output_tokens',
                coalesce(cast(facts.max_output_tokens as varchar), settings.max_output_tokens)
            )
        ) || '}') as sampling,
        as_json('{' || coalesce(settings.limits, '') || '}') as limits,
        facts.skills_hash,
        coalesce(facts.n_models, 0) as n_models,
        unsafe.run_name is not null as is_unsafe,
        settings.notes

    from run_keys

    inner join staging.run_benchmarks as run_benchmarks using (run_id)

    inner join staging.thresholds as thresholds using (benchmark)

    inner join counts using (run_id)

    left join facts using (run_id)

    left join settings using (run_id)

    left join unsafe using (run_name)

)

select * from final
