-- What three or more runs of a benchmark differ in beside who was run: what is counted over all of them pools it.
-- grain: benchmark, setting
-- looks at: run
-- kind: table
-- needs: (from main.runs offset 2)
with settings as (
    select
        benchmark,
        run_id,
        'score' as setting,
        string_agg(component, ', ' order by component) as value
    from main.reward_components
    inner join main.runs using (run_id)
    where is_reward
    group by all
    union all
    select
        benchmark,
        run_id,
        entry.key as setting,
        entry.value ->> '$' as value
    from (
        select
            benchmark,
            run_id,
            unnest(map_entries(json_fields(sampling)) || map_entries(json_fields(limits))) as entry
        from main.runs
    )
),
valued as (
    select
        benchmark,
        setting,
        value,
        count(*) as n_runs
    from settings
    where value is not null
    group by all
),
-- Instructions are compared at each task that several runs try.
prompts as (
    select
        benchmark,
        task_id,
        count(distinct coalesce(system_prompt, '')) as n_texts
    from main.task_prompts
    -- Of a run that records no system prompt it may not be known; another may say that it has none.
    where
        system_prompt <> ''
        or prompt <> '' and run_id in (select run_id from staging.run_settings where name = 'system_prompt')
    group by all
    having n_texts > 1
)
from (
    select
        benchmark,
        setting,
        count(*) as n_values,
        cast(null as bigint) as n_tasks,
        list(left(value, 40) || ' (' || n_runs || ')' order by n_runs desc, value)[:3] as examples
    from valued
    group by all
    having count(*) > 1
    union all by name
    select
        benchmark,
        'system prompt' as setting,
        max(n_texts) as n_values,
        count(*) as n_tasks,
        [] as examples
    from prompts
    group by benchmark
    -- What few tasks are asked otherwise is no setting.
    having 2 * count(*) >= (select count(*) from main.tasks where tasks.benchmark = prompts.benchmark)
)
semi join (select benchmark from main.runs group by all having count(*) > 2) as several using (benchmark)
order by benchmark, setting
