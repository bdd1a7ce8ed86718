-- Whether the evaluation of each recorded rollout can be trusted, passing or failing.
-- grain: run_id, task_id, rollout_index
-- looks at: run
-- kind: table
with findings as (
    select
        run_id,
        task_id,
        rollout_index,
        count(*) as n_findings,
        list(distinct check_id order by check_id) as findings
    from staging.rollout_findings
    group by all
),
-- A plain response serves where calls or turns are not there.
evidence as (
    select
        rollouts.run_id,
        rollouts.task_id,
        rollouts.rollout_index,
        {
            'turns': coalesce(has_turns, false),
            'calls': coalesce(has_calls, false),
            'refs': coalesce(has_references, false),
            'cut_responses': coalesce(has_cut_responses, false),
            'call_order': coalesce(has_order, false),
            'sums': coalesce(has_sums, false),
            'answers': coalesce(has_answers, false),
            'response': has_output is not null,
            'output': has_output is not null or coalesce(has_turns, false),
            'status': status is not null or coalesce(has_calls, false),
            'tokens': output_tokens is not null or coalesce(has_calls, false)
        } as has
    from staging.rollouts
    left join staging.trajectories using (record_id)
),
patterns as (select distinct has from evidence),
-- The health checks that cannot run, for each pattern of evidence that some rollout has.
unobserved as (
    select
        has,
        list_filter([
            case when not has.turns then 'agent_turn_hollow' end,
            case when not has.calls then 'model_call_failed' end,
            case when not has.calls then 'model_call_missing_token_counts' end,
            case when not has.cut_responses then 'model_call_runaway_generation' end,
            case when not has.calls then 'model_call_zero_completion_tokens' end,
            case when not has.status then 'response_failed' end,
            case when not has.output then 'response_no_output' end,
            case when not has.response then 'response_placeholder' end,
            case when not has.tokens then 'response_zero_tokens' end,
            case when not has.call_order then 'rollout_ended_on_failed_model_call' end,
            case when not has.turns then 'rollout_missing_agent_turns' end,
            case when not has.sums then 'rollout_token_count_mismatch' end,
            case when not has.refs then 'trajectory_capture_mismatch' end,
            case when not has.answers then 'trajectory_response_mismatch' end
        ], lambda check_id: check_id is not null) as unobserved_checks
    from patterns
)
select
    evidence.run_id,
    evidence.task_id,
    evidence.rollout_index,
    case
        when findings.n_findings > 0 then 'unhealthy'
        when length(unobserved.unobserved_checks) > 0 then 'unobserved'
        else 'healthy'
    end as health,
    coalesce(findings.n_findings, 0) as n_findings,
    coalesce(findings.findings, []) as findings,
    -- A check that found something did run, on what there was.
    case
        when findings.findings is null then unobserved.unobserved_checks
        else list_filter(
            unobserved.unobserved_checks,
            lambda check_id: not list_contains(findings.findings, check_id)
        )
    end as unobserved_checks
from evidence
inner join unobserved using (has)
left join findings using (run_id, task_id, rollout_index)
