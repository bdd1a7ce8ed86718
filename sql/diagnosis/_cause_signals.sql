-- Every rule of root causes that a task matches, and how surely.
-- grain: run_id, task_id, rule_no
-- kind: table
with matched as (
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
features as (
    select * from main.rollout_features where is_pass
),
cause_passes_matched as (
    select
        features.benchmark,
        features.task_id,
        features.run_id,
        features.rollout_index,
        rules.mode,
        rules.is_profile
    from staging.rule_matches as matches
    inner join raw.failure_rules as rules using (rule_no)
    inner join features using (run_id, task_id, rollout_index)
),
shown as (
    select matched.benchmark, matched.task_id, matched.run_id, matched.rollout_index, spoken.rule, '' as mode
    from cause_passes_matched as matched
    inner join staging.cause_modes as spoken using (mode)
    union all
    select benchmark, task_id, run_id, rollout_index, 'profile_mode' as rule, mode
    from cause_passes_matched as matched
    where is_profile
    union all
    select benchmark, task_id, run_id, rollout_index, 'dominant_mode' as rule, mode
    from cause_passes_matched as matched
    union all
    select benchmark, task_id, run_id, rollout_index, 'answer_within_reference' as rule, '' as mode
    from features
    where is_within_reference and not is_reference
    union all
    select features.benchmark, task_id, run_id, rollout_index, 'conflicting_duplicates' as rule, '' as mode
    from features
    inner join staging.conflicting_duplicates using (run_id, task_id, rollout_index)
    union all
    -- Every pass of such a task is one without it.
    select benchmark, task_id, run_id, rollout_index, 'missing_metadata' as rule, '' as mode
    from features
    inner join staging.missing_metadata using (benchmark, task_id)
),
-- How many passes of a task, over all runs, show what a rule of root causes takes for a sign.
cause_passes as (
    select
        benchmark,
        task_id,
        rule,
        mode,
        count(distinct run_id || '/' || rollout_index) as n_passes
    from shown
    group by all
),
rules (rule_no, rule, cause, highest, is_proven, intervention, told) as (
    values
    (0, 'profile_mode', null, 2, false, null, null),
    (1, 'constant_reward', 'DA', 3, true, 'data', 'every rollout of the run has one and the same reward, neither 0 nor 1'),
    (2, 'conflicting_reference', 'DA', 3, true, 'data', 'another task asks the same and expects another answer'),
    (3, 'conflicting_duplicates', 'DA', 3, true, 'data', 'two rows of one rollout have different rewards'),
    (4, 'unreadable_rows', 'DA', 2, false, 'data', 'lines of the results cannot be read'),
    (5, 'missing_metadata', 'DA', 2, false, 'data', 'a field is missing that at least 95% of tasks have'),
    (6, 'unstable_verdict', 'TI', 3, true, 'verifier repair', 'the same calls and answer passed once and failed once'),
    (7, 'verifier_error', 'TI', 3, false, 'verifier repair', 'the verifier failed in every attempt'),
    (8, 'answer_is_reference', 'TI', 2, false, 'verifier repair', 'the answer is the reference, and failed'),
    (9, 'answer_within_reference', 'TI', 1, false, 'verifier repair', 'the answer is part of the reference, and failed'),
    (10, 'empty_output_passed', 'TI', 2, false, 'verifier repair', 'an empty output passed'),
    (11, 'infrastructure', 'IR', 3, false, 'infrastructure', 'a service, sandbox, network or the call of the model failed'),
    (12, 'nothing_recorded', 'IR', 2, false, 'infrastructure', 'nothing was recorded: no rollout, no failed attempt, or not one token'),
    (13, 'limit_for_all', 'TI', 2, false, 'harness', 'every attempt of every run that shares the limit hits it'),
    (14, 'limit_with_room', 'BI', 2, false, 'harness', 'hits a limit of which passes use less than half'),
    (15, 'broken_call', 'BI', 3, false, 'harness', 'ends on a call that is malformed or written as text'),
    (16, 'no_action', 'BI', 3, false, 'prompt', 'does nothing where passes act'),
    (17, 'repeated_failing_call', 'BI', 3, false, 'harness', 'ends on three or more identical failing calls'),
    (18, 'error_ignored', 'BI', 2, false, 'harness', 'the last result is an error, and the answer does not say so'),
    (19, 'skipped_lookup', 'BI', 2, false, 'prompt', 'acts on an address that nothing it had read contains'),
    (20, 'missing_step', 'BI', 2, false, 'prompt', 'never makes a call that every pass makes'),
    (21, 'same_wrong_call', 'KG', 1, false, 'training', 'the same wrong call in every attempt, and no pass'),
    (22, 'dropped_argument', 'UK', 2, false, 'training', 'leaves out an argument that every pass gives'),
    (23, 'wrong_actions', 'BI', 1, false, 'prompt', 'changes something the task does not expect, or not all it expects'),
    (24, 'unreliable', 'UK', 2, false, 'training', 'the same tools, but other arguments or answers than its passes'),
    (25, 'undeclared_tool', 'KG', 2, false, 'prompt', 'calls a tool that does not exist in every attempt'),
    (26, 'same_wrong_answer', 'KG', 1, false, 'training', 'the same wrong answer in every attempt, and no pass'),
    (27, 'passed_elsewhere', 'KG', 1, false, 'training', 'never passes, with clean attempts; another run passes it'),
    (28, 'dominant_mode', null, 1, false, null, 'the commonest mode of its failing attempts')
),
-- The rules that suggest a task's root cause, in the order they are tried.
cause_rules as (
    select
        rule_no,
        rule,
        cause,
        -- 3 strong, 2 moderate, 1 weak: no rule may claim more.
        highest,
        -- Two rows, or two tasks, that contradict each other: it needs no second attempt.
        is_proven,
        intervention,
        told
    from rules
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
    inner join cause_rules as rules using (rule)
    left join raw.failure_rules as modes using (mode)
    left join cause_passes as passes
        on passes.benchmark = context.benchmark
        and passes.task_id = context.task_id
        and passes.rule = matched.rule
        and passes.mode = matched.mode
    left join staging.constant_rewards as constant
        on constant.run_id = matched.run_id
    -- Where one figure stands for every rollout, nothing else can be told from them.
    where constant.run_id is null or matched.rule = 'constant_reward'
)
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
