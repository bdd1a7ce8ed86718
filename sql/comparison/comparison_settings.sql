-- What two compared runs differ in besides their results: to be read before any change between them.
-- grain: base, candidate, setting
-- needs: staging.run_pairs
with prompts as (
    select
        run_id, task_id,
        min(system_prompt) as system_prompt
    from main.task_prompts
    group by all
),
-- One rollout a task, and no more tasks than tell.
sampled as (
    select run_id, record_id
    from staging.rollout_keys
    semi join staging.task_sides using (run_id)
    qualify row_number() over (partition by run_id order by rollout_index, task_id) <= 100
),
named as (
    select
        sampled.run_id,
        left(unnest(map_keys(json_fields(texts.verifier))), 60) as name
    from sampled
    inner join raw.texts using (record_id)
),
-- The fields that a compared run's verifier writes, as some of its rollouts show them.
verifier_fields as (
    select
        run_id,
        string_agg(distinct name, ', ' order by name) as names
    from named
    group by all
),
runs as (
    select
        runs.run_id,
        [
            runs.benchmark,
            -- A model that nothing names has the name of its run.
            nullif(runs.model, runs.run_id),
            runs.checkpoint,
            runs.agent,
            runs.pass_threshold::varchar,
            runs.n_repeats::varchar,
            runs.sampling::varchar,
            runs.limits::varchar,
            runs.skills_hash,
            fields.names
        ] as said
    from main.runs
    left join verifier_fields as fields using (run_id)
),
differing as (
    select
        pairs.base,
        pairs.candidate,
        unnest([
            'benchmark', 'model', 'checkpoint', 'agent', 'pass threshold', 'repeats', 'sampling',
            'limits', 'skills', 'verifier fields'
        ]) as setting,
        unnest(bases.said) as base_value,
        unnest(candidates.said) as candidate_value
    from staging.run_pairs as pairs
    inner join runs as bases on bases.run_id = pairs.base
    inner join runs as candidates on candidates.run_id = pairs.candidate
)
select *, cast(null as bigint) as n_tasks
from differing
where base_value is distinct from candidate_value
union all
select
    tasks.base,
    tasks.candidate,
    'system prompt' as setting,
    min(left(bases.system_prompt, 200)) as base_value,
    min(left(candidates.system_prompt, 200)) as candidate_value,
    count(*) as n_tasks
from main.comparison_tasks as tasks
inner join prompts as bases
    on bases.run_id = tasks.base
    and bases.task_id = tasks.task_id
inner join prompts as candidates
    on candidates.run_id = tasks.candidate
    and candidates.task_id = tasks.task_id
where tasks.is_paired and bases.system_prompt is distinct from candidates.system_prompt
group by tasks.base, tasks.candidate
