-- Attempts that did not pass, and every rule of root causes that each of them speaks for.
-- grain: run_id, task_id, rollout_index, rule
-- kind: table
with undeclared as (
    select
        run_id,
        task_id,
        count(*) as n_attempts
    from staging.failed_modes
    where is_primary and mode = 'UNDECLARED_TOOL'
    group by all
),
-- What a task's passes take at most, over all runs, and how many of them act.
pass_sizes as (
    select
        benchmark,
        task_id,
        count(*) as n_passes,
        count(*) filter (where has_action) as n_acting,
        -- Of a pass that does not say, it could be anything.
        case when count(output_tokens) = count(*) then max(output_tokens) end as most_tokens,
        case when count(duration_s) = count(*) then max(duration_s) end as longest_s
    from main.rollout_features
    where is_pass
    group by all
),
-- The sets of tools with which a run passed a task.
pass_tools as (
    select
        run_id,
        task_id,
        cast(map_keys(calls_by_tool) as varchar) as tools
    from main.rollout_features
    where is_pass
    group by all
),
-- Attempts that did not pass: the primary mode of each, and what else a root cause hangs on.
judged_attempts as (
    select
        modes.run_id,
        modes.task_id,
        modes.rollout_index,
        modes.mode,
        modes.cause,
        modes.seq,
        modes.told,
        coalesce(rules.is_profile, false) as is_profile,
        features.is_scored,
        features.output_tokens,
        features.duration_s,
        features.is_twin_reference,
        features.is_within_reference and not features.is_reference as is_within_reference,
        features.verifier_error is not null as has_verifier_error,
        features.same_as_pass,
        features.missing_argument,
        context.n_scored,
        context.n_passed,
        context.n_passed + context.n_passed_elsewhere as n_passed_anywhere,
        context.n_passed_elsewhere,
        context.is_same_wrong_answer,
        context.is_limit_for_all,
        context.token_limit,
        coalesce(undeclared.n_attempts = context.n_scored, false) as is_undeclared_by_all,
        coalesce(sizes.n_acting, 0) as n_acting,
        sizes.most_tokens,
        sizes.longest_s,
        pass_tools.tools is not null as has_tools_of_pass
    from staging.failed_modes as modes
    inner join main.rollout_features as features using (run_id, task_id, rollout_index)
    inner join staging.task_context as context using (run_id, task_id)
    left join raw.failure_rules as rules using (rule_no)
    left join undeclared using (run_id, task_id)
    left join pass_sizes as sizes
        on sizes.benchmark = features.benchmark
        and sizes.task_id = features.task_id
    left join pass_tools as pass_tools
        on pass_tools.run_id = features.run_id
        and pass_tools.task_id = features.task_id
        and pass_tools.tools = cast(map_keys(features.calls_by_tool) as varchar)
    where modes.is_primary
),
attempts as (
    select
        judged.*,
        spoken.rule as spoken_rule
    from judged_attempts as judged
    left join staging.cause_modes as spoken
        on spoken.mode = judged.mode
        and spoken.is_enough
),
-- What a mode means depends on how the task fares otherwise.
ruled as (
    select
        run_id,
        task_id,
        rollout_index,
        mode,
        cause,
        seq,
        is_scored,
        told,
        missing_argument,
        unnest(present([
            case when is_profile and cause <> 'UNEXPLAINED' then 'profile_mode' end,
            spoken_rule,
            case when is_scored and is_within_reference then 'answer_within_reference' end,
            case when mode = 'EMPTY_OUTPUT' and output_tokens = 0 then 'nothing_recorded' end,
            case when is_limit_for_all and mode in ('LIMIT_TOO_LOW', 'TRUNCATED', 'TIMEOUT')
                then 'limit_for_all' end,
            case when mode = 'TRUNCATED' and 2 * most_tokens < token_limit
                or mode = 'TIMEOUT' and 2 * longest_s < duration_s then 'limit_with_room' end,
            case when mode in ('NO_ACTION', 'EMPTY_OUTPUT') and n_acting > 0 then 'no_action' end,
            case when is_scored and cause in ('UK', 'UNEXPLAINED') and has_tools_of_pass and n_scored >= 4
                then 'unreliable' end,
            case when mode = 'UNDECLARED_TOOL' and is_undeclared_by_all then 'undeclared_tool' end,
            case when mode = 'WRONG_ANSWER' and is_same_wrong_answer then 'same_wrong_answer' end,
            -- Clean: scored, and no mode that says what went wrong.
            case when is_scored and cause = 'UNEXPLAINED' and n_scored >= 4 and n_passed = 0
                and n_passed_elsewhere > 0 then 'passed_elsewhere' end,
            -- That knowledge is missing or unreliable needs more than a mode.
            case when cause in ('BI', 'TI', 'IR', 'DA') then 'dominant_mode' end
        ])) as rule
    from attempts
),
-- What holds for the task as a whole, by the attempts that bear it.
borne as (
    select
        attempts.run_id,
        attempts.task_id,
        attempts.rollout_index,
        attempts.mode,
        attempts.cause,
        cast(null as bigint) as seq,
        attempts.is_scored,
        attempts.told,
        attempts.missing_argument,
        facts.rule
    from attempts
    inner join staging.cause_tasks as facts using (run_id, task_id)
    left join staging.conflicting_duplicates as duplicates using (run_id, task_id, rollout_index)
    where
        case facts.rule
            when 'conflicting_reference' then attempts.is_twin_reference or attempts.n_passed_anywhere = 0
            when 'conflicting_duplicates' then duplicates.lowest is not null
            when 'unstable_verdict' then attempts.same_as_pass is not null
            when 'verifier_error' then attempts.has_verifier_error
            when 'empty_output_passed' then attempts.is_scored
            when 'missing_step' then attempts.is_scored
            else true
        end
),
every as (
    select * from ruled
    union all
    select * from borne
)
select
    run_id,
    task_id,
    rollout_index,
    rule,
    mode,
    cause,
    seq,
    is_scored,
    case
        when rule in ('profile_mode', 'dominant_mode') then mode
        when rule = 'dropped_argument' then missing_argument
        -- Often there is no rollout to cite.
        when rule = 'infrastructure' then left(told, 120)
    end as detail
from every
