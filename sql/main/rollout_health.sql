-- Whether the evaluation of each recorded rollout can be trusted, whatever its reward.
-- grain: run_id, task_id, rollout_index
-- kind: table
with

evidence as (

    select * from staging.health_evidence

),

unobserved as (

    select * from staging.unobserved_checks

),

findings as (

    select
        run_id,
        task_id,
        rollout_index,
        count(*) as n_findings,
        distinct_values(check_id) as findings

    from staging.rollout_findings

    group by all

),

joined as (

    select
        evidence.run_id,
        evidence.task_id,
        evidence.rollout_index,
        findings.n_findings,
        findings.findings,
        unobserved.unobserved_checks

    from evidence

    inner join unobserved using (
        lacks_turns, lacks_calls, lacks_references, lacks_cut_responses, lacks_order, lacks_sums,
        lacks_answers, lacks_response, lacks_output, lacks_status, lacks_tokens
    )

    left join findings using (run_id, task_id, rollout_index)

),

final as (

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

)

select * from final
