-- How an attempt failed: every mode it matches, one of them primary, each with its evidence.
-- grain: run_id, task_id, rollout_index, mode
-- kind: table
-- needs: staging.attempts where is_pass is distinct from true
with judged as (
    select
        benchmark, task_id,
        sum(n_passed) as n_passed,
        sum(n_failed) as n_failed,
        sum(sum(n_passed)) over (partition by benchmark) as n_all_passed
    from staging.task_context
    group by benchmark, task_id
),
-- Rules whose signal is no commoner in failing than in passing rollouts of the same tasks.
no_signs as (
    select benchmark, rule_no
    from (
        select
            benchmark, task_id,
            rule_no,
            count(*) filter (where is_pass) as n_passed_with,
            count(*) filter (where not is_pass) as n_failed_with
        from staging.rule_matches
        inner join main.rollout_features using (run_id, task_id, rollout_index)
        where is_scored
        group by all
    )
    inner join judged using (benchmark, task_id)
    group by benchmark, rule_no, n_all_passed
    having
        -- Only tasks with passes and failures can tell; only where a pass bears it is there a doubt.
        coalesce(
            sum(n_passed_with) filter (where n_passed > 0 and n_failed > 0) > 0
            and sum(n_failed_with) filter (where n_passed > 0 and n_failed > 0)
                * sum(n_passed) filter (where n_passed > 0 and n_failed > 0)
                <= sum(n_passed_with) filter (where n_passed > 0 and n_failed > 0)
                * sum(n_failed) filter (where n_passed > 0 and n_failed > 0),
            false
        )
        -- What all passes of the benchmark show is how it is done there.
        or (sum(n_passed_with) > 1 and sum(n_passed_with) = n_all_passed)
),
modes as (
    select
        run_id, task_id, rollout_index, record_id,
        coalesce(rules.mode, 'UNEXPLAINED') as mode,
        rules.predicate as rule,
        row_number() over (
            partition by run_id, task_id, rollout_index order by rules.severity desc, rule_no
        ) = 1 as is_primary,
        matches.seq,
        matches.told,
        matches.n_told,
        coalesce(rules.cause, 'UNEXPLAINED') as cause,
        coalesce(rules.severity, 0) as severity,
        rules.intervention
    from main.rollout_features as features
    left join (
        select matches.*
        from staging.rule_matches as matches
        inner join staging.run_benchmarks using (run_id)
        anti join no_signs using (benchmark, rule_no)
    ) as matches using (run_id, task_id, rollout_index)
    left join raw.failure_rules as rules using (rule_no)
    left join staging.rollout_keys using (run_id, task_id, rollout_index)
    -- Where what passes is unsettled, nothing that was scored has failed.
    where coalesce(not features.is_pass, not features.is_scored)
),
shown as (
    select
        record_id, seq,
        case when kind = 'tool_call' then arguments else coalesce(words, text) end as said
    from raw.events
    semi join modes using (record_id, seq)
)
select
    run_id, task_id, rollout_index, mode,
    rule,
    is_primary,
    seq as evidence_seq,
    coalesce(left(said, 240), told) as snippet,
    coalesce(length(said), n_told) as n_characters,
    cause,
    severity,
    intervention
from modes
left join shown using (record_id, seq)
