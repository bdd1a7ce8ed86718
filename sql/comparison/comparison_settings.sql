-- What two compared runs differ in besides their results: to be read before any change between them.
-- grain: base, candidate, setting
-- needs: staging.run_pairs
with prompts as (
    select run_id, task_id, min(system_prompt) as system_prompt
    from main.task_prompts
    group by all
),
-- The fields that a compared run's verifier writes, as one rollout a task shows them, of 100 tasks.
verifier_fields as (
    select run_id, string_agg(distinct name, ', ' order by name) as names
    from (
        select run_id, left(unnest(map_keys(json_fields(texts.verifier))), 60) as name
        from (
            select run_id, record_id
            from staging.rollout_keys
            semi join staging.task_sides using (run_id)
            qualify row_number() over (partition by run_id order by rollout_index, task_id) <= 100
        ) as sampled
        inner join raw.texts using (record_id)
    ) as named
    group by all
),
settings as (
    select
        runs.run_id,
        unnest([
            'benchmark', 'model', 'checkpoint', 'agent', 'pass threshold', 'repeats', 'skills',
            'verification', 'verifier fields'
        ]) as setting,
        unnest([
            runs.benchmark,
            -- A model that nothing names has the name of its run.
            case when runs.has_model then runs.model end,
            runs.checkpoint,
            runs.agent,
            runs.pass_threshold::varchar,
            runs.n_repeats::varchar,
            runs.skills_hash,
            case when runs.is_unsafe then 'forced' end,
            fields.names
        ]) as value
    from main.runs
    left join verifier_fields as fields using (run_id)
    union all
    -- Rows and configs may write one number in two ways: 1 and 1.0.
    select
        run_id,
        entry.key as setting,
        case
            when try_cast(entry.value ->> '$' as double) = try_cast(entry.value ->> '$' as bigint)
                then try_cast(entry.value ->> '$' as bigint)::varchar
            else entry.value ->> '$'
        end as value
    from (
        select
            run_id,
            unnest(map_entries(json_fields(sampling)) || map_entries(json_fields(limits))) as entry
        from main.runs
    ) as entries
)
select
    pairs.base, pairs.candidate, settings.setting,
    max(settings.value) filter (settings.run_id = pairs.base) as base_value,
    max(settings.value) filter (settings.run_id = pairs.candidate) as candidate_value,
    cast(null as bigint) as n_tasks
from staging.run_pairs as pairs
inner join settings on settings.run_id in (pairs.base, pairs.candidate)
group by all
having
    base_value is distinct from candidate_value
    -- Who can say that they do not differ?
    or (settings.setting = 'model' and base_value is null)
union all
select
    tasks.base, tasks.candidate,
    if(tasks.is_paired, 'system prompt', 'questions') as setting,
    min(left(bases.system_prompt, 200)) filter (tasks.is_paired) as base_value,
    min(left(candidates.system_prompt, 200)) filter (tasks.is_paired) as candidate_value,
    count(*) as n_tasks
from main.comparison_tasks as tasks
left join prompts as bases on bases.run_id = tasks.base and bases.task_id = tasks.task_id
left join prompts as candidates
    on candidates.run_id = tasks.candidate
    and candidates.task_id = tasks.task_id
where
    tasks.pairing = 'contradicted'
    or (tasks.is_paired and bases.system_prompt is distinct from candidates.system_prompt)
group by all order by base, candidate, setting
