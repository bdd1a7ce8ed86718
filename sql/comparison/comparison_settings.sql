-- What two compared runs differ in besides their results: to be read before any change between them.
-- grain: base, candidate, setting
-- looks at: across
-- kind: table
-- needs: staging.run_pairs
-- Attempts whose request is not recorded, as harnesses do of passes, say nothing of what was asked.
with prompts as (
    select
        run_id,
        task_id,
        min(nullif(system_prompt, '')) as system_prompt,
        min(prompt) as prompt
    from main.task_prompts
    where prompt <> '' or system_prompt <> ''
    group by all
),
-- What the request holds in the model's own words, where all attempts at a task hold the same.
prefills as (
    select
        run_id,
        task_id,
        case
            when count(distinct coalesce(records.prefill_hash, '')) = 1
                then min(coalesce(records.prefill_hash, ''))
        end as prefill
    from staging.rollout_keys
    semi join staging.task_sides using (run_id)
    inner join staging.records using (record_id)
    inner join raw.texts using (record_id)
    where texts.prompt <> '' or texts.system_prompt <> '' or records.prefill_hash is not null
    group by all
),
-- The tools that requests define, where both runs were asked the same.
offered as (
    select distinct
        run_id,
        task_id,
        records.tools
    from staging.rollout_keys
    semi join staging.task_sides using (run_id)
    inner join staging.records using (record_id)
    where records.tools is not null
),
tools as (
    select
        base,
        candidate,
        tool,
        bool_and(is_base) as is_of_base
    from (
        select
            tasks.base,
            tasks.candidate,
            left(unnest(from_json(offered.tools, '["VARCHAR"]')), 60) as tool,
            offered.run_id = tasks.base as is_base
        from main.comparison_tasks as tasks
        inner join offered
            on offered.task_id = tasks.task_id
            and offered.run_id in (tasks.base, tasks.candidate)
        where tasks.is_paired
    )
    group by base, candidate, tool
    having count(distinct is_base) = 1
),
-- The fields that the verifier writes in at least half of a side's graded attempts, one at each of 100 common tasks:
-- what few hold is about those attempts, what other tasks hold about those tasks.
sampled as (
    from main.comparison_tasks
    where is_paired
    qualify row_number() over (partition by base, candidate order by task_id) <= 100
),
written as materialized (
    select
        run_id,
        task_id,
        list_transform(map_keys(json_fields(texts.verifier)), lambda key: left(key, 60)) as names
    from (
        from staging.rollout_keys
        semi join sampled using (task_id)
        semi join staging.task_sides using (run_id)
        anti join staging.ungraded using (record_id)
        qualify row_number() over (partition by run_id, task_id order by rollout_index) = 1
    ) as firsts
    inner join raw.texts using (record_id)
),
verifier_fields as (
    select
        base,
        candidate,
        list_sort(list(name) filter (where 2 * n_base >= n_tasks and n_candidate = 0)) as of_base,
        list_sort(list(name) filter (where 2 * n_candidate >= n_tasks and n_base = 0)) as of_candidate
    from (
        select
            base,
            candidate,
            n_tasks,
            name,
            count(*) filter (where is_base) as n_base,
            count(*) filter (where not is_base) as n_candidate
        from (
            select
                base,
                candidate,
                count(*) over (partition by base, candidate) as n_tasks,
                unnest(list_concat(
                    list_transform(bases.names, lambda name: {name: name, is_base: true}),
                    list_transform(candidates.names, lambda name: {name: name, is_base: false})
                ), recursive := true)
            from sampled
            inner join written as bases on bases.run_id = sampled.base and bases.task_id = sampled.task_id
            inner join written as candidates
                on candidates.run_id = sampled.candidate
                and candidates.task_id = sampled.task_id
        )
        -- Where a reader puts the scores of a row is no setting of the run.
        where name not in ('score', 'scores')
        group by all
    )
    group by all
    having of_base is distinct from of_candidate
),
-- What every row of a run states, and those of the other otherwise: of few rows it may be chance.
stated as (
    select
        runs.benchmark,
        run_id,
        name,
        min(value) as value
    from staging.signs
    inner join main.runs using (run_id)
    anti join staging.modes as verdicts
        on verdicts.benchmark = runs.benchmark
        and verdicts.name = signs.name
        and verdicts.reason in ('same as score', 'part of score', 'measure')
    where
        signs.kind = 'field'
        and signs.scope = 'run'
        and runs.n_rollouts >= 20
        and not starts_with(value, 'has ')
        and value not in ('is null', 'is empty')
        and name not in ('model', 'agent', 'benchmark', 'grade')
    group by runs.benchmark, run_id, name
    qualify count(*) over (partition by runs.benchmark, name) > 1
),
-- What the rows of other runs have in these fields: a text that is too long to be a sign, an empty one, or no single value.
recorded as (
    select
        run_id,
        path as name,
        case
            when n_rollouts < 20 or count(*) < n_rollouts then null
            when min(kind) = 'EMPTY' and max(kind) = 'EMPTY' then '(empty)'
            when min(value) = max(value) and min(n_characters) = max(n_characters)
                then left(min(value), 60) || if(min(n_characters) > 60, '... (' || min(n_characters) || ' characters)', '')
        end as value
    from staging.entries
    inner join staging.rollouts using (record_id)
    inner join main.runs using (run_id)
    where
        kind <> 'NULL'
        and item_no = 0
        and key = ''
        and (benchmark, path) in (select (benchmark, name) from stated)
        and (run_id, path) not in (select (run_id, name) from stated)
    group by run_id, path, n_rollouts
),
settings as (
    select
        runs.run_id,
        unnest([
            'benchmark', 'model', 'checkpoint', 'agent', 'pass threshold', 'repeats', 'skills',
            'verification'
        ]) as setting,
        unnest([
            runs.benchmark,
            runs.model,
            runs.checkpoint,
            runs.agent,
            runs.pass_threshold::varchar,
            -- How many attempts happen to be there is no setting.
            if(runs.n_expected is not null or asked.run_id is not null, runs.n_repeats, null)::varchar,
            runs.skills_hash,
            if(runs.is_unsafe, 'forced', 'not forced')
        ]) as value
    from main.runs
    left join (
        select distinct run_id
        from staging.run_settings
        where name in ('num_repeats', 'n_repeats')
    ) as asked using (run_id)
    union all
    select
        run_id,
        'score' as setting,
        string_agg(component, ', ' order by component) as value
    from main.reward_components
    where is_reward
    group by run_id
    union all
    -- Rows and configs may write one number in two ways: 1 and 1.0.
    select
        run_id,
        setting,
        case
            when try_cast(value as double) = try_cast(value as bigint) then try_cast(value as bigint)::varchar
            else value
        end as value
    from (
        select
            run_id,
            entry.key as setting,
            entry.value ->> '$' as value
        from (
            select
                run_id,
                unnest(map_entries(json_fields(sampling)) || map_entries(json_fields(limits))) as entry
            from main.runs
        ) as entries
        union
        -- Every other setting that is recorded beside a run; those above are read from rows first.
        select
            run_id,
            name as setting,
            value
        from staging.run_settings
        where name not in (
            'notes', 'policy_model_name', 'model_name', 'model', 'model_id',
            'checkpoint', 'checkpoint_path', 'ckpt', 'ckpt_path', 'step', 'global_step',
            'temperature', 'top_p', 'top_k', 'max_output_tokens', 'max_tokens',
            'num_repeats', 'n_repeats', 'pass_threshold',
            -- Read out of what defines the tools, and of a log without rows.
            'write_tools', 'log_benchmark',
            -- Compared with the requests.
            'system_prompt',
            -- When it was made, how it ended and what it had planned is no setting.
            'date', 'log_status', 'log_error', 'log_planned_attempts', 'log_planned_tasks'
        )
    ) as named
    union all
    select
        run_id,
        name as setting,
        value
    from stated
    union all
    from recorded
    where value is not null
),
-- Objects of settings that are recorded of a run: a key that one lacks was not set.
objects as (
    select distinct
        run_id,
        split_part(name, '.', 1) as object
    from staging.run_settings
    where contains(name, '.')
),
plans as (
    select
        run_id,
        value
    from staging.run_settings
    where name = 'system_prompt'
),
constant as (
    select
        run_id,
        subject
    from main.health_findings
    where check_id = 'run_constant_field'
),
every as (
    select
        pairs.base,
        pairs.candidate,
        settings.setting,
        coalesce(
            max(settings.value) filter (settings.run_id = pairs.base),
            if(bool_or(objects.run_id = pairs.base), 'not set', null)
        ) as base_value,
        coalesce(
            max(settings.value) filter (settings.run_id = pairs.candidate),
            if(bool_or(objects.run_id = pairs.candidate), 'not set', null)
        ) as candidate_value,
        cast(null as bigint) as n_tasks
    from staging.run_pairs as pairs
    inner join settings on settings.run_id in (pairs.base, pairs.candidate)
    left join objects
        on objects.run_id in (pairs.base, pairs.candidate)
        and starts_with(settings.setting, objects.object || '.')
    where
        (pairs.base, settings.setting) not in (select (run_id, name) from recorded where value is null)
        and (pairs.candidate, settings.setting) not in (select (run_id, name) from recorded where value is null)
    group by all
    having
        base_value is distinct from candidate_value
        -- Who can say that they do not differ?
        or (settings.setting = 'model' and base_value is null)
    union all
    select
        tasks.base,
        tasks.candidate,
        parts.setting,
        -- Of unlike prompts the first, where they begin to differ.
        if(
            parts.setting = 'system prompt',
            coalesce(min(left(bases.system_prompt, 200)), min(base_plans.value)),
            arg_min(cut_around(bases.prompt, candidates.prompt, 60, 120), (try_cast(tasks.task_id as bigint), tasks.task_id))
        ) as base_value,
        if(
            parts.setting = 'system prompt',
            coalesce(min(left(candidates.system_prompt, 200)), min(candidate_plans.value)),
            arg_min(cut_around(candidates.prompt, bases.prompt, 60, 120), (try_cast(tasks.task_id as bigint), tasks.task_id))
        ) as candidate_value,
        count(*) as n_tasks
    from main.comparison_tasks as tasks
    cross join (select unnest(['questions', 'prompt', 'system prompt']) as setting) as parts
    left join prompts as bases on bases.run_id = tasks.base and bases.task_id = tasks.task_id
    left join prompts as candidates
        on candidates.run_id = tasks.candidate
        and candidates.task_id = tasks.task_id
    -- A run may record that nothing gives its attempts a system prompt.
    left join plans as base_plans on base_plans.run_id = tasks.base
    left join plans as candidate_plans on candidate_plans.run_id = tasks.candidate
    where
        case parts.setting
            when 'questions' then tasks.pairing = 'contradicted'
            -- One question in other words: templates, examples and instructions around it.
            when 'prompt' then
                tasks.is_paired
                -- The words of equal texts are not looked at, which `and` would do.
                and case
                    when bases.prompt <> candidates.prompt
                        then question_words(bases.prompt) <> question_words(candidates.prompt)
                end
            else
                tasks.is_paired
                and bases.run_id is not null
                and candidates.run_id is not null
                and bases.system_prompt is distinct from candidates.system_prompt
        end
    group by tasks.base, tasks.candidate, parts.setting
    union all
    -- What each run asks under an id that the other lacks, and is not sure to be one task.
    select
        lone.base,
        lone.candidate,
        'task ids' as setting,
        min(lone.task_id) as base_value,
        arg_min(others.task_id, (lone.task_id, others.task_id)) as candidate_value,
        count(distinct lone.task_id) as n_tasks
    from main.comparison_tasks as lone
    inner join staging.task_sides as bases on bases.run_id = lone.base and bases.task_id = lone.task_id
    inner join staging.task_sides as candidates
        on candidates.run_id = lone.candidate
        and candidates.question = bases.question
    inner join main.comparison_tasks as others
        on others.base = lone.base
        and others.candidate = lone.candidate
        and others.task_id = candidates.task_id
    where lone.pairing = 'base only' and others.pairing = 'candidate only'
    group by lone.base, lone.candidate
    union all
    -- Only where the questions are the same: a prefill is then put to the same task.
    select
        tasks.base,
        tasks.candidate,
        'prefilled messages' as setting,
        null as base_value,
        null as candidate_value,
        count(*) as n_tasks
    from main.comparison_tasks as tasks
    inner join prefills as bases on bases.run_id = tasks.base and bases.task_id = tasks.task_id
    inner join prefills as candidates
        on candidates.run_id = tasks.candidate
        and candidates.task_id = tasks.task_id
    where tasks.is_paired and bases.prefill <> candidates.prefill
    group by all
    union all
    -- Those that only one of them has.
    select
        base,
        candidate,
        'tools' as setting,
        string_agg(tool, ', ' order by tool) filter (is_of_base) as base_value,
        string_agg(tool, ', ' order by tool) filter (not is_of_base) as candidate_value,
        null as n_tasks
    from tools
    group by base, candidate
    union all
    select
        base,
        candidate,
        'fields of the rows' as setting,
        coalesce(array_to_string(of_base, ', '), 'no others') as base_value,
        coalesce(array_to_string(of_candidate, ', '), 'no others') as candidate_value,
        null as n_tasks
    from verifier_fields
    union all
    -- What the health checks find to be one value at all tasks of one run, and not of the other.
    select
        pairs.base,
        pairs.candidate,
        'values of ' || constant.subject as setting,
        if(pairs.base = constant.run_id, 'one', 'many') as base_value,
        if(pairs.candidate = constant.run_id, 'one', 'many') as candidate_value,
        null as n_tasks
    from staging.run_pairs as pairs
    inner join constant on constant.run_id in (pairs.base, pairs.candidate)
    anti join constant as both_sides
        on both_sides.subject = constant.subject
        and both_sides.run_id <> constant.run_id
        and both_sides.run_id in (pairs.base, pairs.candidate)
)
select
    *,
    -- What runs are called by, and what gives their rewards, is in their names or named first; how often a task was
    -- tried moves no rate.
    setting not in ('model', 'checkpoint', 'repeats', 'n_concurrent_trials', 'fields of the rows')
    and not gives_rewards
    and coalesce(greatest(length(base_value), length(candidate_value)) <= 40, false)
    and base_value is not null
    and candidate_value is not null
    and unrecorded_by is null
    and count(
        if(unrecorded_by is null and coalesce(base_value, candidate_value, n_tasks::varchar) is not null, 1, null)
    ) over (partition by base, candidate) = 1 as is_only
from (
    select
        *,
        -- One value alone shows no difference, unless both runs define tools.
        case
            when setting = 'tools'
                and base in (select run_id from offered)
                and candidate in (select run_id from offered)
                then null
            when base_value is null and candidate_value is not null then base
            when candidate_value is null and base_value is not null then candidate
        end as unrecorded_by,
        -- Who grades, which of several scores is the reward, and what a verifier compares with; of any other
        -- setting its own name says that it judges.
        setting = 'score'
        or starts_with(setting, 'values of ')
        or regexp_matches(
            lower(split_part(setting, '.', -1)),
            '(^|[^a-z])(reward|judge|grad(er|ing)|scor(er|ing)|rubric)s?([^a-z]|$)'
        ) as gives_rewards
    from every
)
-- How often a harness tries each task is seen in its rows.
where not (setting in ('repeats', 'n_concurrent_trials') and unrecorded_by is not null)
