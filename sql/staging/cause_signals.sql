-- Every rule of root causes that a task matches, and how surely.
-- grain: run_id, task_id, rule_no
-- kind: table
with

matched as (

    select
        run_id,
        task_id,
        rule,
        coalesce(counts.mode, '') as mode,
        coalesce(counts.n_with, 0) as n_with,
        coalesce(counts.n_scored_with, 0) as n_scored_with,
        -- Names come from rollouts, and may be of any length.
        left(coalesce(facts.detail, counts.detail), 200) as detail

    from staging.cause_counts as counts

    full join staging.cause_tasks as facts using (run_id, task_id, rule)

),

weighed as (

    select
        matched.run_id,
        matched.task_id,
        rules.rule_no,
        matched.rule,
        coalesce(rules.cause, modes.cause) as cause,
        coalesce(rules.intervention, modes.intervention) as intervention,
        coalesce(rules.told, modes.title) || coalesce(': ' || matched.detail, '') as note,
        matched.n_with,
        matched.n_scored_with,
        context.n_attempts - context.n_passed as n_failing,
        context.n_passed + context.n_passed_elsewhere as n_passes,
        coalesce(passes.n_passes, 0) as n_passing_with,
        rules.is_proven,
        least(
            rules.highest,
            case when modes.is_words then 1 else 3 end,
            -- One run alone may have a verifier of its own.
            case when matched.rule = 'verifier_error' and context.n_verifier_error_runs < 2 then 2 else 3 end
        ) as highest

    from matched

    inner join staging.task_context as context using (run_id, task_id)

    inner join staging.cause_rules as rules using (rule)

    left join raw.failure_rules as modes using (mode)

    left join staging.cause_passes as passes
        on passes.benchmark = context.benchmark
        and passes.task_id = context.task_id
        and passes.rule = matched.rule
        and passes.mode = matched.mode

    left join staging.constant_rewards as constant
        on constant.run_id = matched.run_id

    -- Where one figure stands for every rollout, nothing else can be told from them.
    where constant.run_id is null or matched.rule = 'constant_reward'

),

final as (

    select
        run_id,
        task_id,
        rule_no,
        rule,
        cause,
        intervention,
        note,
        is_proven,
        n_with,
        n_scored_with,
        n_failing,
        n_passing_with,
        n_passes,
        least(
            highest,
            case
                when n_with = n_failing and n_passing_with = 0 and (n_failing > 1 or is_proven) then 3
                when n_with * 2 > n_failing and n_failing > 1 then 2
                else 1
            end
        ) as level,
        n_with * 2 > n_failing as is_most,
        -- A signal counts where it is commoner in failing than in passing attempts at the task.
        n_with > 0 and (n_passing_with = 0 or n_with * n_passes > n_passing_with * n_failing)
            as is_commoner

    from weighed

)

select * from final
