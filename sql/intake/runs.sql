-- One model, agent or checkpoint at one benchmark: the rows of one rollout file or its shards.
-- grain: run_id
-- kind: table
with settings as (
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
rollouts as (
    select
        run_id,
        count(*) as n_rollouts
    from staging.rollout_keys
    group by all
),
expected as (
    select
        run_id,
        count(*) filter (where source <> 'inferred') as n_expected,
        case
            when count(*) filter (where source = 'inputs') > 0 then 'inputs'
            when count(*) filter (where source = 'profile') > 0 then 'profile'
            else 'inferred'
        end as source
    from main.expected
    group by all
),
tasks as (
    select
        run_id,
        count(distinct task_id) as n_tasks
    from (
        select run_id, task_id from staging.rollout_keys
        union all
        select run_id, task_id from main.expected where source <> 'inferred'
    ) as seen
    group by all
),
per_task as (
    select
        run_id,
        task_id,
        count(*) as n_repeats
    from main.expected
    where source <> 'inferred'
    group by all
    union all
    select
        run_id,
        task_id,
        count(*) as n_repeats
    from staging.rollout_keys
    where run_id not in (select run_id from main.expected where source <> 'inferred')
    group by all
),
repeats as (
    select
        run_id,
        n_repeats,
        row_number() over (partition by run_id order by count(*) desc, n_repeats desc) as rank
    from per_task
    group by run_id, n_repeats
),
-- Counts of each run: tasks, rollouts, expected rows, repeats.
run_counts as (
    select
        runs.run_id,
        coalesce(tasks.n_tasks, 0) as n_tasks,
        coalesce(rollouts.n_rollouts, 0) as n_rollouts,
        nullif(expected.n_expected, 0) as n_expected,
        coalesce(expected.source, 'unknown') as expected_source,
        repeats.n_repeats
    from staging.run_keys as runs
    left join rollouts using (run_id)
    left join expected using (run_id)
    left join tasks using (run_id)
    left join repeats
        on repeats.run_id = runs.run_id
        and repeats.rank = 1
),
rows_read as (
    select
        keys.run_id,
        records.*
    from staging.rollout_keys as keys
    inner join staging.records using (record_id)
),
-- What the rows of a run say of the whole run: model, sampling, skills, rewards.
run_facts as (
    select
        run_id,
        string_agg(distinct model, ', ' order by model) as model,
        count(distinct model) as n_models,
        case when count(distinct skills_hash) = 1 then min(skills_hash) end as skills_hash,
        case when min(temperature) = max(temperature) then min(temperature) end as temperature,
        case when min(top_p) = max(top_p) then min(top_p) end as top_p,
        case when min(max_output_tokens) = max(max_output_tokens) then min(max_output_tokens) end
            as max_output_tokens,
        count(reward) as n_scored
    from rows_read
    group by all
)
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
from staging.run_keys
inner join staging.run_benchmarks using (run_id)
inner join staging.thresholds using (benchmark)
inner join run_counts as counts using (run_id)
left join run_facts as facts using (run_id)
left join settings using (run_id)
left join unsafe using (run_name)
