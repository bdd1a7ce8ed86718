-- What rules of root causes say of a task as a whole, and a rollout that shows it where one does.
-- grain: run_id, task_id, rule
-- kind: table
with empty_passes as (
    select
        benchmark,
        task_id,
        min(run_id || '/' || task_id || ':' || rollout_index) as citation
    from main.rollout_features
    where is_pass and not has_output
    group by all
),
verdicts as (
    select
        run_id,
        task_id,
        min(same_as_pass) as citation
    from main.rollout_features
    where same_as_pass is not null
    group by all
),
duplicates as (
    select
        run_id,
        task_id,
        min(lowest) || ' and ' || max(highest) as detail,
        min(run_id || '/' || task_id || ':' || rollout_index) as citation
    from staging.conflicting_duplicates
    group by all
),
every as (
    select run_id, task_id, 'constant_reward' as rule, cast(reward as varchar) as detail, null as witness
    from staging.task_context as context
    inner join staging.constant_rewards using (run_id)
    union all
    select run_id, task_id, 'conflicting_reference' as rule, 'task ' || twin_task_id as detail, null as witness
    from staging.task_context as context
    where twin_task_id is not null
    union all
    select run_id, task_id, 'conflicting_duplicates' as rule, detail, citation as witness
    from duplicates
    union all
    select run_id, task_id, 'missing_metadata' as rule, missing.name as detail, null as witness
    from staging.task_context as context
    inner join staging.missing_metadata as missing using (benchmark, task_id)
    union all
    select run_id, task_id, 'unstable_verdict' as rule, citation as detail, citation as witness
    from verdicts
    union all
    select
        run_id,
        task_id,
        'verifier_error' as rule,
        case when n_verifier_error_runs > 1 then 'in ' || n_verifier_error_runs || ' runs' end as detail,
        null as witness
    from staging.task_context as context
    where is_verifier_error_for_all
    union all
    select run_id, task_id, 'empty_output_passed' as rule, citation as detail, citation as witness
    from staging.task_context as context
    inner join empty_passes using (benchmark, task_id)
    union all
    select run_id, task_id, 'missing_step' as rule, missing_step as detail, null as witness
    from staging.task_context as context
    where missing_step is not null
)
select run_id, task_id, rule, detail, witness
from every
