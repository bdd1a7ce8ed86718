-- Attempts that did not pass, each with the rule of root causes that its primary mode speaks for.
-- grain: run_id, task_id, rollout_index, rule
-- kind: table
with

attempts as (

    select
        modes.run_id,
        modes.task_id,
        modes.rollout_index,
        modes.mode,
        modes.cause,
        modes.seq,
        rules.is_profile,
        features.benchmark,
        features.is_scored,
        features.is_within_reference,
        features.is_limit_for_all,
        cast(features.calls_by_tool as varchar) as tools,
        context.n_scored,
        context.n_passed,
        context.n_failed,
        context.n_wrong_answers,
        context.n_passed_elsewhere,
        passes.n_passed as n_passed_anywhere,
        limits.most_used

    from staging.failed_modes as modes

    left join raw.failure_rules as rules using (rule_no)

    inner join main.rollout_features as features using (run_id, task_id, rollout_index)

    inner join staging.task_context as context using (run_id, task_id)

    inner join staging.task_passes as passes
        on passes.benchmark = features.benchmark
        and passes.task_id = features.task_id

    left join staging.pass_limits as limits
        on limits.benchmark = features.benchmark
        and limits.task_id = features.task_id

    where modes.is_primary

),

spoken as (

    select
        attempts.run_id,
        attempts.task_id,
        attempts.rollout_index,
        spoken.rule

    from attempts

    inner join staging.cause_modes as spoken using (mode)

),

-- What a mode means depends on how the task fares elsewhere.
judged as (

    select run_id, task_id, rollout_index, 'profile_mode' as rule
    from attempts
    where is_profile and cause <> 'UNEXPLAINED'

    union all

    select run_id, task_id, rollout_index, 'answer_within_reference' as rule
    from attempts
    where is_scored and is_within_reference and mode <> 'REFERENCE_CONTRADICTION'

    union all

    select run_id, task_id, rollout_index, 'limit_for_all' as rule
    from attempts
    where is_limit_for_all and mode in ('LIMIT_TOO_LOW', 'TRUNCATED', 'TIMEOUT')

    union all

    select run_id, task_id, rollout_index, 'limit_with_room' as rule
    from attempts
    where mode = 'TRUNCATED' and most_used < 0.5

    union all

    select run_id, task_id, rollout_index, 'no_action' as rule
    from attempts
    where mode in ('NO_ACTION', 'EMPTY_OUTPUT') and n_passed_anywhere > 0

    union all

    select attempts.run_id, attempts.task_id, attempts.rollout_index, 'unreliable' as rule
    from attempts
    inner join staging.pass_tools as pass_tools using (run_id, task_id, tools)
    where
        attempts.n_scored >= 4
        and attempts.is_scored
        and attempts.mode in (
            'UNSTABLE_ANSWER', 'WRONG_ARGUMENTS', 'DROPPED_FILTER', 'UNEXPLAINED', 'CHECKS_FAILED',
            'VERIFIER_REASON', 'FALSE_SELF_CHECK'
        )

    union all

    select run_id, task_id, rollout_index, 'undeclared_tool' as rule
    from attempts
    where mode = 'UNDECLARED_TOOL' and n_passed = 0

    union all

    select run_id, task_id, rollout_index, 'same_wrong_answer' as rule
    from attempts
    where mode = 'WRONG_ANSWER' and n_passed = 0 and n_failed > 1 and n_wrong_answers = 1

    union all

    select run_id, task_id, rollout_index, 'passed_elsewhere' as rule
    from attempts
    where
        n_scored >= 4
        and n_passed = 0
        and n_passed_elsewhere > 0
        and mode in ('UNEXPLAINED', 'WRONG_ANSWER', 'CHECKS_FAILED', 'VERIFIER_REASON', 'FALSE_SELF_CHECK')

    union all

    select run_id, task_id, rollout_index, 'dominant_mode' as rule
    from attempts
    -- That knowledge is missing or unreliable needs more than a mode.
    where cause in ('BI', 'TI', 'IR', 'DA')

),

every as (

    select * from spoken

    union all

    select * from judged

),

final as (

    select
        every.run_id,
        every.task_id,
        every.rollout_index,
        every.rule,
        attempts.mode,
        attempts.cause,
        attempts.seq

    from every

    inner join attempts using (run_id, task_id, rollout_index)

)

select * from final
