-- The modes of every attempt that did not pass, the primary one first; UNEXPLAINED without any.
-- grain: run_id, task_id, rollout_index, mode
-- kind: table
with failing as (
    select run_id, task_id, rollout_index, benchmark
    from main.rollout_features
    -- Where what passes is unsettled, nothing that was scored has failed.
    where coalesce(not is_pass, not is_scored)
),
judged as (
    select
        context.benchmark,
        context.task_id,
        sum(context.n_passed) as n_passed,
        sum(context.n_failed) as n_failed
    from staging.task_context as context
    group by all
),
passes as (
    select
        benchmark,
        sum(n_passed) as n_passed
    from judged
    group by all
),
seen as (
    select
        features.benchmark,
        features.task_id,
        matches.rule_no,
        count(*) filter (where features.is_pass) as n_passed_with,
        count(*) filter (where not features.is_pass) as n_failed_with
    from staging.rule_matches as matches
    inner join main.rollout_features as features using (run_id, task_id, rollout_index)
    where features.is_scored
    group by all
),
compared as (
    select
        seen.*,
        judged.n_passed,
        judged.n_failed,
        judged.n_passed > 0 and judged.n_failed > 0 as is_mixed
    from seen
    inner join judged using (benchmark, task_id)
),
-- Only tasks with passes and failures can tell; only where a pass bears it is there a doubt.
counted as (
    select
        benchmark,
        rule_no,
        coalesce(sum(n_passed_with) filter (where is_mixed), 0) as n_passed_with,
        coalesce(sum(n_failed_with) filter (where is_mixed), 0) as n_failed_with,
        coalesce(sum(n_passed) filter (where is_mixed), 0) as n_passed,
        coalesce(sum(n_failed) filter (where is_mixed), 0) as n_failed,
        sum(n_passed_with) as n_passes_with
    from compared
    group by all
),
-- Whether a rule's signal is commoner in failing than in passing rollouts of the same tasks.
mode_signals as (
    select
        counted.benchmark,
        counted.rule_no,
        cast(counted.n_passed_with as bigint) as n_passed_with,
        cast(counted.n_passed as bigint) as n_passed,
        cast(counted.n_failed_with as bigint) as n_failed_with,
        cast(counted.n_failed as bigint) as n_failed,
        (
            counted.n_passed_with > 0
            and counted.n_failed_with * counted.n_passed <= counted.n_passed_with * counted.n_failed
        )
        -- What all passes of the benchmark show is how it is done there.
        or (counted.n_passes_with > 1 and counted.n_passes_with = passes.n_passed) as is_no_sign
    from counted
    inner join passes using (benchmark)
),
matched as (
    select
        failing.run_id,
        failing.task_id,
        failing.rollout_index,
        matches.rule_no,
        rules.mode,
        rules.predicate as rule,
        rules.cause,
        rules.severity,
        rules.intervention,
        matches.seq,
        matches.told,
        matches.n_told
    from failing
    inner join staging.rule_matches as matches using (run_id, task_id, rollout_index)
    inner join raw.failure_rules as rules using (rule_no)
    left join mode_signals as signals using (benchmark, rule_no)
    where not coalesce(signals.is_no_sign, false)
),
explained as (
    select run_id, task_id, rollout_index
    from matched
    group by all
),
unexplained as (
    select
        failing.run_id,
        failing.task_id,
        failing.rollout_index,
        cast(null as bigint) as rule_no,
        'UNEXPLAINED' as mode,
        cast(null as varchar) as rule,
        'UNEXPLAINED' as cause,
        cast(0 as bigint) as severity,
        cast(null as varchar) as intervention,
        cast(null as bigint) as seq,
        cast(null as varchar) as told,
        cast(null as bigint) as n_told
    from failing
    left join explained using (run_id, task_id, rollout_index)
    where explained.run_id is null
),
every as (
    select * from matched
    union all
    select * from unexplained
)
select
    *,
    row_number() over (
        partition by run_id, task_id, rollout_index order by severity desc, rule_no
    ) = 1 as is_primary
from every
