-- Every rule of root causes that a task matches, how surely, and rollouts that show it.
-- grain: run_id, task_id, rule_no
-- kind: table
with
-- The rules in the order they are tried. None may claim more than its highest: 3 strong, 2 moderate,
-- 1 weak. Proven are two rows, or two tasks, that contradict each other: no second attempt is needed.
rules (rule_no, rule, cause, highest, is_proven, intervention, note) as (
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
evidence as materialized (
    select * from staging.cause_evidence
),
-- Of the rules that speak for whatever a mode says, the commonest mode.
matched as (
    select
        run_id,
        task_id,
        rule,
        mode,
        count(rollout_index) as n_with,
        count(*) filter (where is_scored) as n_scored_with,
        bool_or(rollout_index is null) as has_fact,
        -- Names come from rollouts, and may be of any length.
        left(
            coalesce(
                min(detail) filter (where rollout_index is null),
                min(detail) filter (where rollout_index is not null)
            ),
            200
        ) as detail,
        -- What shows the task as a whole first; it may be among the attempts again.
        coalesce(
            min_by(citation, (coalesce(rollout_index, -1), citation), 4)
                filter (where citation is not null),
            []
        ) as citations
    from evidence
    where is_pass is distinct from true
    group by run_id, task_id, rule, mode
    qualify row_number() over (partition by run_id, task_id, rule order by n_with desc, mode) = 1
),
-- How many passes of a task, over all runs, show what a rule takes for a sign.
passes as (
    select
        benchmark,
        task_id,
        rule,
        mode,
        count(distinct (run_id, rollout_index)) as n_passing_with
    from evidence
    where is_pass
    group by all
),
weighed as (
    select
        run_id,
        task_id,
        rules.rule_no,
        rule,
        coalesce(rules.cause, modes.cause) as cause,
        coalesce(rules.intervention, modes.intervention) as intervention,
        coalesce(rules.note, modes.title) || coalesce(': ' || detail, '') as note,
        n_with,
        n_scored_with,
        n_attempts - n_passed as n_failing,
        n_passed + n_passed_elsewhere as n_passes,
        coalesce(n_passing_with, 0) as n_passing_with,
        is_proven,
        has_fact,
        least(
            highest,
            if(modes.is_words, 1, 3),
            -- One run alone may have a verifier of its own.
            if(rule = 'verifier_error' and n_verifier_error_runs < 2, 2, 3)
        ) as highest,
        citations
    from matched
    inner join staging.task_context using (run_id, task_id)
    inner join rules using (rule)
    left join raw.failure_rules as modes using (mode)
    left join passes using (benchmark, task_id, rule, mode)
    -- Where one figure stands for every rollout, nothing else can be told from them.
    where rule = 'constant_reward' or run_id not in (select run_id from staging.constant_rewards)
),
-- Any rollout, where no failing one shows what is said of the task as a whole.
others as (
    select
        run_id,
        task_id,
        min(run_id || '/' || rollout_id) as citation
    from staging.rollouts
    semi join (from weighed where has_fact and citations = []) using (run_id, task_id)
    group by all
)
select
    * exclude (highest, citations, citation, has_fact, n_passes, n_passing_with),
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
        as is_commoner,
    case
        when citations <> [] then list_filter(
            citations, lambda found, place: list_position(citations, found) = place
        )[1:3]
        when has_fact and citation is not null then [citation]
        else []
    end as evidence
from weighed
left join others using (run_id, task_id)
