-- Every rule of root causes that a task matches, and how surely.
-- grain: run_id, task_id, rule_no
-- kind: table
with

tasks as (

    select
        run_id,
        task_id,
        n_attempts,
        n_passed,
        n_attempts - n_passed as n_failing,
        n_verifier_error_runs

    from staging.task_context

),

counted as (

    select
        run_id,
        task_id,
        rule,
        count(*) as n_with,
        min(mode) as mode

    from staging.cause_attempts

    where rule <> 'dominant_mode'

    group by all

),

-- The mode that most attempts have, of those with a cause to suggest.
modes as (

    select
        run_id,
        task_id,
        mode,
        cause,
        count(*) as n_with,
        row_number() over (partition by run_id, task_id order by count(*) desc, mode) as rank

    from staging.cause_attempts

    where rule = 'dominant_mode'

    group by run_id, task_id, mode, cause

),

passing as (

    select
        matches.run_id,
        matches.task_id,
        spoken.rule,
        count(distinct matches.rollout_index) as n_passing_with

    from staging.rule_matches as matches

    inner join raw.failure_rules as rules using (rule_no)

    inner join staging.cause_modes as spoken using (mode)

    inner join main.rollout_features as features using (run_id, task_id, rollout_index)

    where features.is_pass

    group by all

),

every as (

    select run_id, task_id, rule, n_with, mode, cast(null as varchar) as cause, cast(null as varchar) as detail
    from counted

    union all

    select run_id, task_id, 'dominant_mode' as rule, n_with, mode, cause, mode as detail
    from modes
    where rank = 1

    union all

    select whole.run_id, whole.task_id, whole.rule, tasks.n_failing as n_with, null as mode, null as cause, whole.detail
    from staging.cause_tasks as whole
    inner join tasks using (run_id, task_id)

),

weighed as (

    select
        every.run_id,
        every.task_id,
        every.rule,
        every.n_with,
        every.mode,
        every.cause,
        every.detail,
        tasks.n_failing,
        tasks.n_passed,
        tasks.n_verifier_error_runs,
        coalesce(passing.n_passing_with, 0) as n_passing_with,
        case
            -- Two rows, or two tasks, that contradict each other need no third.
            when every.rule in (
                'constant_reward', 'conflicting_reference', 'conflicting_duplicates', 'unstable_verdict'
            ) then 3
            when every.n_with = tasks.n_failing and tasks.n_failing > 1 and coalesce(passing.n_passing_with, 0) = 0
                then 3
            when every.n_with * 2 > tasks.n_failing and tasks.n_failing > 1 then 2
            else 1
        end as seen

    from every

    inner join tasks using (run_id, task_id)

    left join passing using (run_id, task_id, rule)

),

final as (

    select
        weighed.run_id,
        weighed.task_id,
        coalesce(rules.rule_no, 0) as rule_no,
        weighed.rule,
        coalesce(weighed.cause, rules.cause, modes.cause) as cause,
        coalesce(rules.intervention, modes.intervention) as intervention,
        least(
            coalesce(rules.highest, 2),
            weighed.seen,
            -- One run alone may have a verifier of its own.
            case when weighed.rule = 'verifier_error' and weighed.n_verifier_error_runs < 2 then 2 else 3 end
        ) as level,
        weighed.n_with,
        weighed.n_failing,
        weighed.n_passing_with,
        weighed.n_with * 2 > weighed.n_failing as is_most,
        coalesce(rules.told, modes.title) || coalesce(': ' || weighed.detail, '') as note

    from weighed

    left join staging.cause_rules as rules using (rule)

    left join raw.failure_rules as modes using (mode)

    -- A signal counts where it is commoner in failing than in passing attempts at the task.
    where
        weighed.n_passing_with = 0
        or weighed.n_with * weighed.n_passed > weighed.n_passing_with * weighed.n_failing

)

select * from final
