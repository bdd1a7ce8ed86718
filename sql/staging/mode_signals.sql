-- Whether a rule's signal is commoner in failing than in passing rollouts of the same tasks.
-- grain: benchmark, rule_no
-- kind: table
with

judged as (

    select
        context.benchmark,
        context.task_id,
        sum(context.n_passed) as n_passed,
        sum(context.n_failed) as n_failed

    from staging.task_context as context

    group by all

),

seen as (

    select
        features.benchmark,
        features.task_id,
        matches.rule_no,
        count(*) filter (where features.is_pass) as n_passed_with,
        count(*) filter (where not features.is_pass) as n_failed_with

    from staging.rule_matches as matches

    inner join main.rollout_features as features using (run_id, task_id, rollout_index)

    where features.is_scored

    group by all

),

-- Only tasks with passes and failures can tell; only where a pass bears it is there a doubt.
counted as (

    select
        seen.benchmark,
        seen.rule_no,
        sum(seen.n_passed_with) as n_passed_with,
        sum(seen.n_failed_with) as n_failed_with,
        sum(judged.n_passed) as n_passed,
        sum(judged.n_failed) as n_failed

    from seen

    inner join judged using (benchmark, task_id)

    where judged.n_passed > 0 and judged.n_failed > 0

    group by all

),

final as (

    select
        benchmark,
        rule_no,
        cast(n_passed_with as bigint) as n_passed_with,
        cast(n_passed as bigint) as n_passed,
        cast(n_failed_with as bigint) as n_failed_with,
        cast(n_failed as bigint) as n_failed,
        n_passed_with > 0 and n_failed_with * n_passed <= n_passed_with * n_failed as is_no_sign

    from counted

)

select * from final
