-- Rules of root causes that speak of a task as a whole.
-- grain: run_id, task_id, rule
-- kind: table
with

context as (

    select * from staging.task_context

),

constant as (

    select run_id

    from main.rollouts

    where is_scored

    group by all

    having
        count(*) > 1
        and count(distinct task_id) > 1
        and min(reward) = max(reward)
        and min(reward) not in (0, 1)

),

empty_passes as (

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
        min(run_id || '/' || task_id || ':' || rollout_index || ' and ' || same_as_pass) as pair

    from main.rollout_features

    where same_as_pass is not null

    group by all

),

steps as (

    select
        features.run_id,
        features.task_id,
        min(features.missing_call) as tool

    from main.rollout_features as features

    where features.is_scored and not features.is_pass

    group by all

    having
        count(*) > 1
        and count(features.missing_call) = count(*)
        and count(distinct features.missing_call) = 1

),

final as (

    select context.run_id, context.task_id, 'constant_reward' as rule, cast(null as varchar) as detail
    from context
    inner join constant using (run_id)

    union all

    select run_id, task_id, 'conflicting_reference' as rule, 'task ' || twin_task_id as detail
    from context
    where twin_task_id is not null

    union all

    select run_id, task_id, 'conflicting_duplicates' as rule, place as detail
    from staging.conflicting_duplicates

    union all

    select context.run_id, context.task_id, 'missing_metadata' as rule, missing.name as detail
    from context
    inner join staging.missing_metadata as missing using (benchmark, task_id)

    union all

    select
        run_id,
        task_id,
        'verifier_error' as rule,
        case when n_verifier_error_runs > 1 then 'in ' || n_verifier_error_runs || ' runs' end as detail
    from context
    where n_verifier_errors > 0 and n_verifier_errors = n_recorded

    union all

    select context.run_id, context.task_id, 'empty_output_passed' as rule, empty_passes.citation as detail
    from context
    inner join empty_passes using (benchmark, task_id)

    union all

    select run_id, task_id, 'unstable_verdict' as rule, pair as detail
    from verdicts

    union all

    select run_id, task_id, 'missing_step' as rule, tool as detail
    from steps

)

select * from final
