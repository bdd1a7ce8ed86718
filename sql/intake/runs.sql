-- One model, agent or checkpoint at one benchmark: the rows of one rollout file or its shards.
-- grain: run_id
-- looks at: across
-- kind: table
-- computed by: pipeline.analysis.run_names.aliases from named_runs
-- columns: run_id, benchmark, model, alias
with settings as (
    select
        run_id,
        max(value) filter (name = 'notes') as notes,
        coalesce(
            max(value) filter (name = 'policy_model_name'),
            max(value) filter (name = 'model_name'),
            max(value) filter (name = 'model'),
            max(value) filter (name = 'model_id')
        ) as model,
        coalesce(
            max(value) filter (name in ('checkpoint', 'checkpoint_path')),
            max(value) filter (name in ('ckpt', 'ckpt_path')),
            max(value) filter (name in ('step', 'global_step'))
        ) as checkpoint,
        max(value) filter (name = 'temperature') as temperature,
        max(value) filter (name = 'top_p') as top_p,
        max(value) filter (name = 'top_k') as top_k,
        max(value) filter (name in ('max_output_tokens', 'max_tokens')) as max_output_tokens,
        max(value) filter (name in ('num_repeats', 'n_repeats')) as n_repeats,
        string_agg(json_pair(name, value), ', ' order by name) filter (
            regexp_matches(name, '^(max_turns|max_steps|max_tool|max_model|timeout|time_|limit|task_)|_limit$')
        ) as limits
    from staging.run_settings
    group by all
),
expected as (
    select
        run_id,
        nullif(count(*) filter (source <> 'inferred'), 0) as n_expected,
        case
            when bool_or(source = 'inputs') then 'inputs'
            when bool_or(source = 'profile') then 'profile'
            else 'inferred'
        end as source
    from main.expected
    group by all
),
-- The repeats of a task are those expected; those recorded where nothing says what was.
repeats as (
    select
        run_id,
        case
            when max(n_expected) over (partition by run_id) > 0 then n_expected
            else n_recorded
        end as n_repeats
    from (
        select
            run_id,
            task_id,
            count(*) filter (is_expected) as n_expected,
            count(*) filter (not is_expected) as n_recorded
        from (
            select
                run_id,
                task_id,
                true as is_expected
            from main.expected
            where source <> 'inferred'
            union all
            select
                run_id,
                task_id,
                false as is_expected
            from staging.rollout_keys
        ) as attempts
        group by all
    ) as tasks
),
counts as (
    select
        run_id,
        cast(sum(n_tasks) as bigint) as n_tasks,
        arg_max(n_repeats, (n_tasks, n_repeats)) filter (n_repeats > 0) as n_repeats
    from (select run_id, n_repeats, count(*) as n_tasks from repeats group by all) as counted
    group by all
),
-- What the rows of a run say of the whole run: model, sampling, skills, rewards.
facts as (
    select
        keys.run_id,
        count(*) as n_rollouts,
        string_agg(distinct records.model, ', ' order by records.model) as model,
        count(distinct records.model) as n_models,
        case when min(skills_hash) = max(skills_hash) then min(skills_hash) end as skills_hash,
        case when min(temperature) = max(temperature) then min(temperature) end as temperature,
        case when min(top_p) = max(top_p) then min(top_p) end as top_p,
        case when min(max_output_tokens) = max(max_output_tokens) then min(max_output_tokens) end
            as max_output_tokens,
        case when min(reasoning_effort) = max(reasoning_effort) then min(reasoning_effort) end
            as reasoning_effort,
        count(reward) as n_scored
    from staging.rollout_keys as keys
    inner join staging.records using (record_id)
    group by all
),
named_runs as (
    select
        run_id,
        benchmark,
        coalesce(facts.model, model_name(settings.model)) as model
    from staging.run_benchmarks
    left join facts using (run_id)
    left join settings using (run_id)
    order by benchmark, run_id
),
published as (
    select
        run_keys.run_id,
        min(bounded_name(figures.metric)) filter (where figures.is_main) as metric,
        arg_min(figures.value, bounded_name(figures.metric)) filter (where figures.is_main) as score,
        max(figures.value) filter (where figures.means = 'passes_without_rows') as n_passes
    from raw.figures
    inner join raw.files using (file_no)
    inner join staging.run_keys
        on run_keys.run_name = files.run_name
        and coalesce(run_keys.part = bounded_name(figures.variant), figures.variant is null)
    where figures.is_main or figures.means = 'passes_without_rows'
    group by all
)
select
    run_id,
    aliases_of_run.alias,
    benchmarks.benchmark,
    coalesce(facts.model, model_name(settings.model)) as model,
    -- A name may say that it is a checkpoint: step_500. Of `iter` the word must begin there, or every
    -- writer were one.
    coalesce(
        settings.checkpoint,
        nullif(regexp_extract(lower(run_name), '(?:step|ckpt|checkpoint|epoch)[-_]?\d+'), ''),
        nullif(regexp_extract(lower(run_name), '(?:^|[^a-z])(iter(?:ation)?[-_]?\d+)', 1), '')
    ) as checkpoint,
    run_keys.agent,
    coalesce(counts.n_tasks, 0) as n_tasks,
    coalesce(facts.n_rollouts, 0) as n_rollouts,
    expected.n_expected,
    coalesce(expected.source, 'unknown') as expected_source,
    case
        when expected.n_expected is not null then counts.n_repeats
        else coalesce(try_cast(settings.n_repeats as bigint), counts.n_repeats)
    end as n_repeats,
    coalesce(facts.n_scored, 0) as n_scored,
    benchmarks.pass_threshold,
    cast('{' || concat_ws(
        ', ',
        json_pair('temperature', coalesce(facts.temperature::varchar, settings.temperature)),
        json_pair('top_p', coalesce(facts.top_p::varchar, settings.top_p)),
        json_pair('top_k', settings.top_k),
        json_pair(
            'max_output_tokens',
            coalesce(facts.max_output_tokens::varchar, settings.max_output_tokens)
        ),
        json_pair('reasoning_effort', facts.reasoning_effort)
    ) || '}' as json) as sampling,
    cast('{' || coalesce(settings.limits, '') || '}' as json) as limits,
    facts.skills_hash,
    coalesce(facts.n_models, 0) as n_models,
    -- By the file's name: a run may have been given any other.
    run_name in (
        select files.run_name
        from raw.files
        where files.kind = 'rollouts' and regexp_matches(files.path, '(^|/)unsafe_[^/]*$')
    ) as is_unsafe,
    published.metric as reported_metric,
    published.score as reported_score,
    -- Where failures alone have rows, what share of attempts passes is not in them.
    nullif(cast(published.n_passes as bigint), 0) as n_passes_without_rows,
    settings.notes
from staging.run_keys
inner join staging.run_benchmarks as benchmarks using (run_id)
left join temp.aliases as aliases_of_run using (run_id)
left join expected using (run_id)
left join counts using (run_id)
left join facts using (run_id)
left join settings using (run_id)
left join published using (run_id)
