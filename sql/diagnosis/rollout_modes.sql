-- How an attempt failed: every mode that counts, one of them primary, each with its evidence.
-- grain: run_id, task_id, rollout_index, mode
-- kind: table
-- needs: staging.attempts where is_pass is distinct from true
with modes as (
    select
        run_id, task_id, rollout_index,
        rule_no, signs.sign,
        coalesce(signs.source, 'none') as source,
        coalesce(signs.is_description, false) as is_description,
        -- What the record says itself, what a profile knows of it, its fields, checks, the trajectory,
        -- and last what only describes.
        row_number() over (
            partition by run_id, task_id, rollout_index
            order by
                case
                    when signs.sign is null then 9
                    when signs.source = 'record' and rules.mode is not null and signs.is_always then 1
                    when signs.source = 'profile' and not signs.is_description then 2
                    when signs.source = 'record' and rules.mode is null then 3
                    when signs.source = 'check' then 4
                    when not signs.is_description then 5
                    else 6
                end,
                rules.severity desc nulls first, signs.is_always desc, n_signed_failed desc, signs.sign
        ) = 1 as is_primary,
        signs.seq, signs.told, signs.n_told,
        signs.cause as sign_cause
    from main.rollout_features as features
    left join (
        select signs.* exclude (is_description), tests.is_description, tests.n_signed_failed
        from staging.signs
        -- An attempt that has no verdict is in no test, and needs none.
        left join main.mode_tests as tests using (benchmark, sign, source)
        where coalesce(tests.is_counted, signs.is_always)
    ) as signs using (run_id, task_id, rollout_index)
    left join raw.failure_rules as rules using (rule_no)
    -- Where what passes is unsettled, nothing that was scored has failed.
    where coalesce(not features.is_pass, not features.is_scored)
),
shown as (
    select
        run_id, task_id, rollout_index, seq,
        case when kind = 'tool_call' then arguments else coalesce(words, text) end as said
    from raw.events
    inner join (
        select distinct run_id, task_id, rollout_index, record_id, seq
        from modes
        inner join staging.rollout_keys using (run_id, task_id, rollout_index)
        where seq is not null
    ) using (record_id, seq)
)
select
    run_id, task_id, rollout_index,
    coalesce(modes.sign, 'UNEXPLAINED') as mode,
    rules.predicate as rule,
    modes.source, modes.is_description, is_primary,
    seq as evidence_seq,
    left(coalesce(said, told), 240) as snippet,
    coalesce(length(said), n_told) as n_characters,
    coalesce(rules.cause, sign_cause, 'UNEXPLAINED') as cause,
    coalesce(rules.severity, 0) as severity,
    rules.intervention
from modes
left join raw.failure_rules as rules using (rule_no)
left join shown using (run_id, task_id, rollout_index, seq)
