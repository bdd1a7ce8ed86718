-- What speaks for each rule of root causes: tasks as a whole, failing attempts, and passing ones.
-- grain: run_id, task_id, rollout_index, rule, mode
with
-- Which failure modes speak for which rule; some only where more holds than the mode.
spoken (mode, rule, is_enough) as (
    values
    ('UNREADABLE_ROW', 'unreadable_rows', true),
    ('UNGRADED', 'verifier_error', false),
    ('REFERENCE_CONTRADICTION', 'answer_is_reference', true),
    ('JUDGE_FAILED', 'infrastructure', true),
    ('INFRA_FAILURE', 'infrastructure', true),
    ('SANDBOX_ERROR', 'infrastructure', true),
    ('MODEL_ERROR', 'infrastructure', true),
    ('MISSING_ROW', 'nothing_recorded', true),
    ('NOT_REACHED', 'nothing_recorded', true),
    ('CUT_OFF', 'limit_for_all', false),
    ('SAME_WRONG_ARGUMENTS', 'same_wrong_call', true),
    ('DROPPED_FILTER', 'dropped_argument', true),
    ('WRONG_ARGUMENTS', 'wrong_actions', true),
    ('EXTRA_WRITE', 'wrong_actions', true),
    ('MISSING_ACTION', 'wrong_actions', true),
    ('GAVE_UP', 'wrong_actions', true),
    ('UNDECLARED_TOOL', 'undeclared_tool', false)
),
-- Rollouts of which two rows claim to be the one, with different rewards.
duplicates as (
    select
        run_id, task_id, rollout_index,
        min(reward) as lowest,
        max(reward) as highest
    from staging.keys
    semi join (from staging.keys where role = 'rollout' and rank > 1)
        using (run_id, task_id, rollout_index)
    inner join (select record_id, reward from staging.records) using (record_id)
    -- A numbered attempt corrects the one before it.
    where role = 'rollout' and attempt_index is null
    group by all
    having lowest < highest
),
passes as (from main.rollout_features where is_pass),
-- What holds for a task as a whole, and a rollout that shows it where one does.
facts as (
    select
        run_id, task_id,
        unnest(list_filter(
            [
                {
                    rule: 'constant_reward',
                    is_so: metrics.has_constant_reward,
                    detail: cast(metrics.min_reward as varchar)
                },
                {
                    rule: 'conflicting_reference',
                    is_so: twin_task_id is not null,
                    detail: 'task ' || twin_task_id
                },
                {
                    rule: 'verifier_error',
                    is_so: is_verifier_error_for_all,
                    detail: case
                        when n_verifier_error_runs > 1 then 'in ' || n_verifier_error_runs || ' runs'
                    end
                }
            ],
            lambda fact: fact.is_so
        ), recursive := true),
        cast(null as varchar) as witness
    from staging.task_context
    inner join main.run_metrics as metrics using (run_id, benchmark)
    union all by name
    select
        run_id, task_id,
        'conflicting_duplicates' as rule,
        min(lowest) || ' and ' || max(highest) as detail,
        min(run_id || '/' || task_id || ':' || rollout_index) as witness
    from duplicates
    group by all
    union all by name
    select
        run_id, task_id,
        'unstable_verdict' as rule,
        min(same_as_pass) as detail,
        detail as witness
    from main.rollout_features
    where same_as_pass is not null
    group by run_id, task_id
    union all by name
    -- A check that nobody ever passes may be the check's fault, unless attempts pass without it.
    select
        run_id, task_id,
        'suspect_check' as rule,
        min(source || ' ' || check_name) as detail,
        min(run_id || '/' || task_id || ':' || rollout_index) as witness
    from main.checks
    inner join staging.run_benchmarks using (run_id)
    inner join (
        select benchmark, task_id, source, check_name
        from main.checks
        inner join staging.rollouts using (run_id, task_id, rollout_index)
        inner join staging.run_benchmarks using (run_id)
        where is_passed is not null
        group by all
        having not bool_or(is_passed) and not coalesce(bool_or(is_pass), false) and count(*) > 3
    ) using (benchmark, task_id, source, check_name)
    -- Its siblings pass, so the attempts were not all at sea.
    semi join (
        from main.checks
        inner join staging.run_benchmarks using (run_id)
        where is_passed
    ) as passing
        on passing.benchmark = run_benchmarks.benchmark
        and passing.task_id = checks.task_id
        and passing.source = checks.source
    group by all
),
-- Attempts that did not pass: the primary mode of each, and what else a root cause hangs on.
attempts as (
    select
        features.*,
        modes.mode, modes.cause,
        modes.evidence_seq as seq,
        modes.snippet,
        spoken.rule as spoken_rule,
        coalesce(rules.is_profile, false) as is_profile,
        context.is_same_wrong_answer,
        pass_tools.run_id is not null as has_tools_of_pass,
        coalesce(undeclared.n_attempts, 0) = features.n_task_scored as is_undeclared_by_all
    from main.rollout_modes as modes
    inner join main.rollout_features as features using (run_id, task_id, rollout_index)
    inner join staging.task_context as context using (run_id, task_id)
    left join raw.failure_rules as rules using (mode)
    left join (from spoken where is_enough) as spoken using (mode)
    -- The sets of tools with which the run passed the task.
    left join (select distinct run_id, task_id, map_keys(calls_by_tool) as tools from passes)
        as pass_tools
        on pass_tools.run_id = features.run_id
        and pass_tools.task_id = features.task_id
        and pass_tools.tools = map_keys(features.calls_by_tool)
    left join (
        select run_id, task_id, count(*) as n_attempts
        from main.rollout_modes
        where is_primary and mode = 'UNDECLARED_TOOL'
        group by all
    ) as undeclared using (run_id, task_id)
    where modes.is_primary
),
-- What a mode means depends on how the task fares otherwise.
failing as (
    select
        *,
        unnest(list_filter(
            [
                case when is_profile and cause <> 'UNEXPLAINED' then 'profile_mode' end,
                spoken_rule,
                case when is_limit_for_all and mode = 'CUT_OFF' then 'limit_for_all' end,
                case
                    when
                        is_scored and cause in ('UK', 'UNEXPLAINED') and has_tools_of_pass
                        and n_task_scored >= 4
                        then 'unreliable'
                end,
                case when mode = 'UNDECLARED_TOOL' and is_undeclared_by_all then 'undeclared_tool' end,
                case when mode = 'WRONG_ANSWER' and is_same_wrong_answer then 'same_wrong_answer' end,
                -- That knowledge is missing or unreliable needs more than a mode.
                case when cause in ('BI', 'TI', 'IR', 'DA') then 'dominant_mode' end
            ],
            lambda rule: rule is not null
        )) as rule
    from attempts
    union all by name
    -- What holds for the task as a whole, by the attempts that bear it.
    select
        attempts.* exclude (seq),
        facts.rule
    from attempts
    inner join facts using (run_id, task_id)
    left join duplicates using (run_id, task_id, rollout_index)
    where
        case facts.rule
            when 'conflicting_reference'
                then is_twin_reference or n_task_passed + n_passed_elsewhere = 0
            when 'conflicting_duplicates' then lowest is not null
            when 'unstable_verdict' then same_as_pass is not null
            when 'verifier_error' then verifier_error is not null
            when 'suspect_check' then is_scored
            else true
        end
),
-- How passes show the same; of what is missing from a task, each pass is one without it.
passing as (
    select
        passes.*,
        mode, is_profile
    from passes
    inner join staging.rule_matches using (run_id, task_id, rollout_index)
    inner join raw.failure_rules using (rule_no)
)
-- Two rules speak for whatever a mode says: of the others the mode does not matter.
select
    run_id, task_id,
    rule,
    '' as mode,
    false as is_pass,
    detail,
    witness as citation
from facts
union all by name
select
    run_id, task_id, rollout_index,
    rule,
    if(rule in ('profile_mode', 'dominant_mode'), failing.mode, '') as mode,
    is_scored,
    false as is_pass,
    case rule
        when 'profile_mode' then failing.mode
        when 'dominant_mode' then failing.mode
        when 'dropped_argument' then missing_argument
        -- Often there is no rollout to cite.
        when 'infrastructure' then case when seq is null then left(snippet, 120) end
    end as detail,
    case
        when outcome in ('scored', 'unscored')
            then run_id || '/' || task_id || ':' || rollout_index || coalesce('#' || seq, '')
    end as citation
from failing
union all by name
select
    run_id, task_id, rollout_index, benchmark,
    rule, mode,
    true as is_pass
from (
    select run_id, task_id, rollout_index, benchmark, spoken.rule, '' as mode
    from passing
    inner join spoken using (mode)
    union
    select run_id, task_id, rollout_index, benchmark, 'profile_mode' as rule, mode
    from passing
    where is_profile
    union
    select run_id, task_id, rollout_index, benchmark, 'dominant_mode' as rule, mode
    from passing
    union
    select run_id, task_id, rollout_index, benchmark, 'verifier_error' as rule, '' as mode
    from passes
    where verifier_error is not null
    union
    select run_id, task_id, rollout_index, benchmark, 'conflicting_duplicates' as rule, '' as mode
    from passes
    semi join duplicates using (run_id, task_id, rollout_index)
)
