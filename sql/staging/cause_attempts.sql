-- Attempts that did not pass, and every rule of root causes that each of them speaks for.
-- grain: run_id, task_id, rollout_index, rule
-- kind: table
with

attempts as (

    select
        judged.*,
        spoken.rule as spoken_rule

    from staging.judged_attempts as judged

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

),

final as (

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

)

select * from final
