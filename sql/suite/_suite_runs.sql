-- Which entrant each run belongs to, and whether several runs of one at a benchmark may be pooled.
-- A run of one benchmark alone is no suite, unless suite.toml says so.
-- grain: run_id
-- looks at: across
-- kind: table
-- needs: (from (select distinct benchmark from main.runs) offset 1) | raw.suite_entrants
with runs as (
    select
        run_id,
        benchmark,
        model,
        concat_ws(' ', model, checkpoint) as identity,
        coalesce(agent, '') as agent,
        sampling::varchar as sampling,
        limits::varchar as limits,
        coalesce(left(skills_hash, 8), '') as skills,
        name_versions(run_id) as versions,
        name_words(run_id, [model, regexp_extract(model, '[^/]*$'), checkpoint, agent, benchmark]) as words
    from main.runs
    where n_scored > 0 and n_passes_without_rows is null
),
benchmarks as (
    select benchmark
    from runs
    where
        benchmark in (select benchmark from raw.suite_benchmarks)
        or not exists (from raw.suite_benchmarks) and benchmark not in (select benchmark from staging.regraded)
    group by benchmark
    qualify count(*) over () > 1 or exists (from raw.suite_entrants)
),
-- Attempts that several runs of a model have at one benchmark.
repeated as (
    select
        runs.identity,
        runs.benchmark,
        count(*) = count(distinct (keys.task_id, keys.rollout_index)) as is_disjoint
    from runs
    inner join staging.rollout_keys as keys using (run_id)
    where (runs.identity, runs.benchmark) in (
        select (identity, benchmark)
        from runs
        where model is not null
        group by identity, benchmark
        having count(*) > 1
    )
    group by all
),
-- What a model was run with twice at one benchmark, in different ways: that is part of who it is.
ways as (
    select
        runs.identity,
        runs.benchmark,
        count(distinct agent) > 1 as has_agents,
        count(distinct skills) > 1 as has_skills,
        count(distinct versions) > 1 as has_versions
    from runs
    inner join repeated using (identity, benchmark)
    where not is_disjoint
    group by all
),
-- Sampling and limits by name, and the names in which such runs differ: others would only lengthen their names.
packed as (
    select
        run_id,
        identity,
        benchmark,
        place,
        name,
        fields ->> name as value
    from (
        select
            run_id,
            identity,
            benchmark,
            unnest([1, 2]) as place,
            unnest([sampling, limits])::json as fields
        from runs
    ),
        unnest(json_keys(fields)) as keys (name)
),
varying_packed as (
    select distinct
        packed.identity,
        place,
        name
    from packed
    inner join ways using (identity, benchmark)
    inner join (
        select
            identity,
            benchmark,
            count(*) as n_runs
        from runs
        group by all
    ) as counts using (identity, benchmark)
    group by packed.identity, benchmark, place, name, n_runs
    having count(distinct value) > 1 or count(value) < n_runs
),
own_packed as (
    select
        run_id,
        string_agg(regexp_replace(name, '^task_args\.', '') || '=' || left(value, 60), ' ' order by place, name) as packed
    from packed
    semi join varying_packed using (identity, place, name)
    group by all
),
-- The system prompt of a run whose attempts all have the same, by its place among those of all runs.
prompts as (
    select
        run_id,
        dense_rank() over (order by first_run) as prompt_no
    from (
        select
            run_id,
            min(run_id) over (partition by prompt) as first_run
        from (
            select
                run_id,
                any_value(coalesce(system_prompt, '')) as prompt
            from main.task_prompts
            where run_id in (select run_id from runs semi join ways using (identity))
                -- A request that is not recorded says nothing of its system prompt.
                and (prompt <> '' or system_prompt <> '')
            group by run_id
            having min(coalesce(system_prompt, '')) = max(coalesce(system_prompt, ''))
        ) as constant
    ) as placed
),
-- Every other setting that is recorded of a run. Seeds and the number of repeats differ between repeats; those
-- above are read from rows first.
settings as (
    select
        run_id,
        name,
        -- Of a long value its hash is enough.
        coalesce(nullif(regexp_extract(value, 'sha256 [0-9a-f]{8}'), ''), left(value, 60)) as value
    from staging.run_settings
    where
        not regexp_matches(name, '(^|[._])(seed|num_trials|num_repeats|n_repeats)$|^log_|^(task|model)_args\.|_limit$')
        -- Prose about a task is not who was run.
        and not (starts_with(name, 'metadata.') and length(value) > 40)
        and name not in (
            'notes', 'policy_model_name', 'model_name', 'model', 'model_id', 'write_tools', 'pass_threshold',
            'checkpoint', 'checkpoint_path', 'ckpt', 'ckpt_path', 'step', 'global_step',
            'temperature', 'top_p', 'top_k', 'max_output_tokens', 'max_tokens',
            -- What the benchmark is called; its prompts are read from rows.
            'task', 'tags', 'system_prompt',
            -- Evaluations of one model may be of several days.
            'commit', 'inspect_ai', 'lm_eval_version', 'transformers_version'
        )
    union all
    select
        run_id,
        'system prompt' as name,
        prompt_no::varchar as value
    from prompts
),
varying as (
    select
        identity,
        bool_or(has_agents) as has_agents,
        bool_or(has_skills) as has_skills,
        bool_or(has_versions) as has_versions
    from ways
    group by all
),
-- Of other settings those that differ between such runs, by name; what one run alone records shows no difference.
varying_settings as (
    select distinct
        identity,
        name
    from (
        select
            runs.identity,
            settings.name
        from runs
        inner join ways using (identity, benchmark)
        inner join settings using (run_id)
        -- Each benchmark has its own steps.
        where settings.name <> 'solver'
        group by runs.identity, runs.benchmark, settings.name
        having count(distinct settings.value) > 1
    )
),
own_settings as (
    select
        run_id,
        string_agg(if(name = 'system prompt', 'prompt ', name || '=') || value, ' ' order by name) as others,
        max(try_cast(value as bigint)) filter (where name = 'system prompt') as prompt_no
    from runs
    inner join settings using (run_id)
    semi join varying_settings using (identity, name)
    group by all
),
-- Of runs without a model, what their names say besides their benchmarks: where several benchmarks have the same two
-- or more, these are who was run. What numbers repeats is no name.
conditions as (
    select
        run_id,
        name
    from (
        select
            run_id,
            benchmark,
            written,
            trim(
                regexp_replace(
                    written,
                    '(^|[^\p{L}\p{N}])' || regexp_escape(safe_name(benchmark)) || '($|[^\p{L}\p{N}])',
                    '\1',
                    'i'
                ),
                ' -_.'
            ) as name
        from (
            select
                run_id,
                benchmark,
                -- Of one file the runs differ in what its rows say of them.
                case
                    when count(distinct run_name) over () = 1 and part is not null then safe_name(part)
                    else run_id
                end as written
            from runs
            inner join staging.run_keys using (run_id)
            where model is null
        )
    )
    where name <> written and len(name_words(name, [])) > 0
    qualify
        count(distinct benchmark) over (partition by name) > 1
        and count(*) over (partition by name) = count(distinct benchmark) over (partition by name)
        and count(distinct name) over (partition by benchmark) > 1
),
recorded as (
    select
        runs.*,
        case when model is null then coalesce(conditions.name, run_id) else concat_ws(
            ' ',
            identity,
            if(has_agents, nullif(agent, ''), null),
            own_packed.packed,
            if(has_skills, nullif(skills, ''), null),
            if(has_versions, nullif(versions, ''), null),
            own_settings.others
        ) end as entrant,
        if(model is null, 'name', 'model') as source,
        own_settings.prompt_no,
        cast(null as bigint) as place
    from runs
    left join varying using (identity)
    left join own_settings using (run_id)
    left join own_packed using (run_id)
    left join conditions using (run_id)
    where not exists (from raw.suite_entrants)
),
-- A run that the patterns of two entrants name belongs to the first; `suite_notes` says so.
named as (
    select
        runs.*,
        arg_min(entrants.entrant, entrants.place) as entrant,
        'suite' as source,
        min(entrants.place) as place
    from runs
    inner join raw.suite_entrants as entrants on runs.run_id glob entrants.pattern
    group by all
),
-- Words in which names of runs differ, where nothing recorded distinguishes these: they are part of who they are, too.
varying_words as (
    select
        entrant,
        list(distinct word) as varying
    from (
        select
            entrant,
            word
        from (
            select
                entrant,
                benchmark,
                count(*) over (partition by entrant, benchmark) as n_runs,
                unnest(list_distinct(words)) as word
            from recorded
            inner join repeated using (identity, benchmark)
            where source = 'model' and not is_disjoint
        )
        group by entrant, benchmark, word, n_runs
        having count(*) < n_runs
    )
    group by entrant
),
worded as (
    select
        * exclude (entrant, varying),
        concat_ws(
            ' ',
            entrant,
            nullif(array_to_string(list_filter(words, lambda word: list_contains(varying, word)), '-'), '')
        ) as entrant
    from recorded
    left join varying_words using (entrant)
),
entered as (
    from worded
    union all by name
    from named
),
-- The settings in which the runs of a cell differ.
unlike as (
    select
        entrant,
        benchmark,
        string_agg(name, ', ' order by name) as differing
    from (
        select
            entrant,
            benchmark,
            name
        from (
            select
                run_id,
                entrant,
                benchmark,
                unnest([
                    {name: 'agent', value: agent},
                    {name: 'sampling', value: sampling},
                    {name: 'limits', value: limits},
                    {name: 'skills', value: skills}
                ], recursive := true)
            from entered
            union all by name
            select
                run_id,
                entrant,
                benchmark,
                name,
                value
            from entered
            inner join settings using (run_id)
        )
        group by all
        having count(distinct value) > 1
    )
    group by entrant, benchmark
),
grouped as (
    select
        *,
        count(*) over (partition by entrant, benchmark) as n_runs
    from entered
    left join unlike using (entrant, benchmark)
    semi join benchmarks using (benchmark)
),
shared as (
    select
        grouped.entrant,
        grouped.benchmark,
        count(*) = count(distinct (keys.task_id, keys.rollout_index)) as is_disjoint
    from grouped
    inner join staging.rollout_keys as keys using (run_id)
    where n_runs > 1
    group by all
)
select
    run_id,
    benchmark,
    entrant,
    source,
    dense_rank() over (order by place nulls last, entrant) as entrant_no,
    model,
    agent,
    prompt_no,
    case
        when n_runs = 1 then 'one run'
        when is_disjoint then 'disjoint attempts'
        when differing is null then 'equal settings'
        else 'refused'
    end as pooling,
    differing,
    bool_or(baselines.run_id is not null) over (partition by entrant) as is_base,
    count(distinct benchmark) over (partition by entrant) as n_own_benchmarks,
    -- Of very many, those that would be in no average are left out: cells of entrants by benchmarks
    -- are then at most twice the runs.
    is_base
        or (select count(distinct entrant) from grouped) <= most_paired_entrants()
        or 2 * n_own_benchmarks >= (select count(distinct benchmark) from grouped) as is_entered
from grouped
left join shared using (entrant, benchmark)
left join (select distinct run_id from raw.baselines) as baselines using (run_id)
