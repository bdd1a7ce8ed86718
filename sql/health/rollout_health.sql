-- Whether the evaluation of each recorded rollout can be trusted, whatever its reward.
-- grain: run_id, task_id, rollout_index
-- kind: table
with findings as (
    select
        run_id,
        task_id,
        rollout_index,
        count(*) as n_findings,
        distinct_values(check_id) as findings
    from staging.rollout_findings
    group by all
),
facts as (
    select
        facts.record_id,
        facts.has_turns,
        facts.n_owned > 0 as has_calls,
        facts.n_references > 0 or facts.has_reference_gap as has_references,
        facts.n_cut_unseen = 0 as has_cut_responses,
        facts.n_unordered = 0 as has_order,
        facts.prompt_tokens + facts.completion_tokens
            + facts.usage_prompt_tokens + facts.usage_completion_tokens is not null as has_sums,
        coalesce(answers.can_compare_calls and answers.can_compare_answer, false) as has_answers
    from staging.trajectory_facts as facts
    left join staging.trajectory_answers as answers using (record_id)
),
-- Which evidence for its health a rollout lacks; a plain response serves where calls or turns are not there.
health_evidence as (
    select
        rollouts.run_id,
        rollouts.task_id,
        rollouts.rollout_index,
        not coalesce(facts.has_turns, false) as lacks_turns,
        not coalesce(facts.has_calls, false) as lacks_calls,
        not coalesce(facts.has_references, false) as lacks_references,
        not coalesce(facts.has_calls and facts.has_cut_responses, false) as lacks_cut_responses,
        not coalesce(facts.has_calls and facts.has_order, false) as lacks_order,
        not coalesce(facts.has_sums, false) as lacks_sums,
        not coalesce(facts.has_answers, false) as lacks_answers,
        rollouts.has_output is null as lacks_response,
        rollouts.has_output is null and not coalesce(facts.has_turns, false) as lacks_output,
        rollouts.status is null and not coalesce(facts.has_calls, false) as lacks_status,
        rollouts.output_tokens is null and not coalesce(facts.has_calls, false) as lacks_tokens
    from main.rollouts
    left join facts using (record_id)
),
patterns as (
    select distinct
        lacks_turns,
        lacks_calls,
        lacks_references,
        lacks_cut_responses,
        lacks_order,
        lacks_sums,
        lacks_answers,
        lacks_response,
        lacks_output,
        lacks_status,
        lacks_tokens
    from health_evidence
),
-- The health checks that cannot run, for each pattern of evidence that some rollout lacks.
unobserved_checks as (
    select
        *,
        without_nulls([
            case when lacks_turns then 'agent_turn_hollow' end,
            case when lacks_calls then 'model_call_failed' end,
            case when lacks_calls then 'model_call_missing_token_counts' end,
            case when lacks_cut_responses then 'model_call_runaway_generation' end,
            case when lacks_calls then 'model_call_zero_completion_tokens' end,
            case when lacks_status then 'response_failed' end,
            case when lacks_output then 'response_no_output' end,
            case when lacks_response then 'response_placeholder' end,
            case when lacks_tokens then 'response_zero_tokens' end,
            case when lacks_order then 'rollout_ended_on_failed_model_call' end,
            case when lacks_turns then 'rollout_missing_agent_turns' end,
            case when lacks_sums then 'rollout_token_count_mismatch' end,
            case when lacks_references then 'trajectory_capture_mismatch' end,
            case when lacks_answers then 'trajectory_response_mismatch' end
        ]) as unobserved_checks
    from patterns
),
joined as (
    select
        evidence.run_id,
        evidence.task_id,
        evidence.rollout_index,
        findings.n_findings,
        findings.findings,
        unobserved.unobserved_checks
    from health_evidence as evidence
    inner join unobserved_checks as unobserved using (
        lacks_turns, lacks_calls, lacks_references, lacks_cut_responses, lacks_order, lacks_sums,
        lacks_answers, lacks_response, lacks_output, lacks_status, lacks_tokens
    )
    left join findings using (run_id, task_id, rollout_index)
)
select
    run_id,
    task_id,
    rollout_index,
    case
        when n_findings > 0 then 'unhealthy'
        when length(unobserved_checks) > 0 then 'unobserved'
        else 'healthy'
    end as health,
    coalesce(n_findings, 0) as n_findings,
    coalesce(findings, no_texts()) as findings,
    -- A check that found something did run, on what there was.
    case
        when findings is null then unobserved_checks
        else list_without(unobserved_checks, findings)
    end as unobserved_checks
from joined
