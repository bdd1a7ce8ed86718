-- What two compared runs differ in besides their results: to be read before any change between them.
-- grain: base, candidate, setting
-- kind: table
with prompts as (
    select
        run_id,
        task_id,
        min(system_prompt) as system_prompt
    from main.task_prompts
    group by all
),
compared as (
    select run_id from staging.task_sides group by all
),
-- One rollout a task, and no more tasks than tell.
sampled as (
    select
        keys.run_id,
        keys.record_id,
        row_number() over (partition by keys.run_id order by keys.rollout_index, keys.task_id)
            as place
    from staging.rollout_keys as keys
    inner join compared using (run_id)
),
named as (
    select
        sampled.run_id,
        left(unnest(map_keys(json_fields(texts.verifier))), 60) as name
    from sampled
    inner join raw.texts using (record_id)
    where sampled.place <= 100
),
-- The fields that a compared run's verifier writes, as some of its rollouts show them.
verifier_fields as (
    select
        run_id,
        string_agg(distinct name, ', ' order by name) as names
    from named
    group by run_id
),
runs as (
    select
        runs.*,
        -- A model that nothing names has the name of its run.
        nullif(runs.model, runs.run_id) as known_model,
        fields.names as verifier_fields
    from main.runs
    left join verifier_fields as fields using (run_id)
),
paired as (
    select
        pairs.base,
        pairs.candidate,
        bases as base_run,
        candidates as candidate_run
    from staging.run_pairs as pairs
    inner join runs as bases
        on bases.run_id = pairs.base
    inner join runs as candidates
        on candidates.run_id = pairs.candidate
),
long as (
    select
        base,
        candidate,
        unnest([
            setting_of('benchmark', base_run.benchmark, candidate_run.benchmark),
            setting_of('model', base_run.known_model, candidate_run.known_model),
            setting_of('checkpoint', base_run.checkpoint, candidate_run.checkpoint),
            setting_of('agent', base_run.agent, candidate_run.agent),
            setting_of('pass threshold', base_run.pass_threshold, candidate_run.pass_threshold),
            setting_of('repeats', base_run.n_repeats, candidate_run.n_repeats),
            setting_of('sampling', base_run.sampling, candidate_run.sampling),
            setting_of('limits', base_run.limits, candidate_run.limits),
            setting_of('skills', base_run.skills_hash, candidate_run.skills_hash),
            setting_of('verifier fields', base_run.verifier_fields, candidate_run.verifier_fields)
        ]) as said
    from paired
),
worded as (
    select
        tasks.base,
        tasks.candidate,
        count(*) as n_tasks,
        min(left(bases.system_prompt, 200)) as base_value,
        min(left(candidates.system_prompt, 200)) as candidate_value
    from main.comparison_tasks as tasks
    inner join prompts as bases
        on bases.run_id = tasks.base
        and bases.task_id = tasks.task_id
    inner join prompts as candidates
        on candidates.run_id = tasks.candidate
        and candidates.task_id = tasks.task_id
    where tasks.is_paired and bases.system_prompt is distinct from candidates.system_prompt
    group by tasks.base, tasks.candidate
)
select
    base,
    candidate,
    said.setting,
    said.base_value,
    said.candidate_value,
    cast(null as bigint) as n_tasks
from long
where said.base_value is distinct from said.candidate_value
union all
select
    base,
    candidate,
    'system prompt' as setting,
    base_value,
    candidate_value,
    n_tasks
from worded
