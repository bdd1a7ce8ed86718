-- What matters most in an analysis, ranked by what is at stake in points of the score.
-- grain: finding_no
-- looks at: across
-- kind: table
with comparisons as (
    select
        *,
        row_number() over (
            partition by benchmark, case when is_named then candidate else '' end
            order by is_changed desc, abs(delta) desc, pair_no
        ) as rank
    from main.comparisons
    -- Of twenty pairs that nobody asked about one looks changed by chance: all are tests of one.
    where is_lead and delta is not null and (is_named or is_changed)
),
-- The task that changed most, where no other changed as much.
examples as (
    select
        base,
        candidate,
        metric,
        is_gain,
        candidate_example
    from report.changed_tasks
    qualify
        rank = 1
        and abs(change) > coalesce(
            lead(abs(change)) over (partition by base, candidate, metric, is_gain order by rank), 0
        ) + 1e-9
),
-- What changed in each run against its named base; where none is named, the largest settled change.
changes as (
    select
        comparisons.candidate as run_id,
        'change' as kind,
        comparisons.metric,
        comparisons.is_changed as is_decided,
        -- Rewards without bounds do not go beyond the scale of all others.
        case
            when comparisons.is_changed then least(abs(comparisons.delta), 1)
            else 0
        end as stake,
        comparisons.base,
        comparisons.verdict_holm as verdict,
        comparisons.delta as value,
        comparisons.ci_new_tasks_low as low,
        comparisons.ci_new_tasks_high as high,
        comparisons.n_common_tasks as n_total,
        examples.candidate_example as example
    from comparisons
    left join examples
        on examples.base = comparisons.base
        and examples.candidate = comparisons.candidate
        and examples.metric = comparisons.metric
        and examples.is_gain = (comparisons.delta > 0)
        and comparisons.delta <> 0
    where comparisons.rank = 1
),
nothing_scored as (
    select
        run_id,
        'unscored' as kind,
        true as is_overturning,
        1 as stake,
        n_rollouts as n_total
    from report.headlines as heads
    where is_unscored
),
unsettled as (
    select
        run_id,
        'unsettled' as kind,
        true as is_overturning,
        1 as stake,
        min_reward as low,
        max_reward as high,
        n_scored as n_total
    from report.headlines as heads
    where is_unsettled
),
-- Failed attempts that no rollout made good.
failed as (
    select
        failures.run_id,
        count(distinct (failures.task_id, failures.rollout_index)) as n_failed
    from main.failures
    left join staging.rollouts using (run_id, task_id, rollout_index)
    where rollouts.run_id is null
    group by all
),
-- Nothing says what was expected, and something shows that not all of it is here.
unknown as (
    select
        heads.run_id,
        'unknown' as kind,
        true as is_overturning,
        greatest(
            coalesce(failed.n_failed, 0) / nullif(heads.n_rollouts + coalesce(failed.n_failed, 0), 0),
            coalesce(heads.n_inferred_missing_tasks, 0)
                / nullif(heads.n_scored_tasks + coalesce(heads.n_inferred_missing_tasks, 0), 0)
        ) as stake,
        coalesce(failed.n_failed, 0) as n_concerned,
        coalesce(heads.n_inferred_missing_tasks, 0) as n_tasks,
        heads.n_rollouts as n_total
    from report.headlines as heads
    left join failed using (run_id)
    where
        heads.is_expected_unknown
        and not heads.is_unscored
        and (heads.has_inferred or failed.n_failed > 0)
),
-- Rows that are not there, by how far they could move the score.
missing as (
    select
        policies.run_id,
        'missing' as kind,
        false as is_overturning,
        greatest(
            policies.pass_at_1 - policies.pass_at_1_worst,
            policies.pass_at_1_best - policies.pass_at_1
        ) as stake,
        policies.pass_at_1 as value,
        policies.pass_at_1_worst as low,
        policies.pass_at_1_best as high,
        policies.n_left_out as n_concerned,
        policies.n_left_out + policies.n_rollouts as n_total
    from main.denominators as policies
    where policies.policy = 'dropped' and policies.n_left_out > 0 and policies.n_rollouts > 0
),
-- Only figures of passes and rewards are on the scale of the score; pass@k is reported in percent.
reported as (
    select
        run_id,
        status,
        metric,
        reported as value,
        ours,
        case
            when metric like 'pass@%' then least(abs(reported - ours) / 100, 1)
            when metric = 'mean/reward' then least(abs(reported - ours), 1)
            else 0
        end as stake,
        metric like 'pass@%' or metric = 'mean/reward' as is_score,
        row_number() over (
            partition by run_id
            order by status <> 'differs', task_id is not null, not is_score, stake desc, metric, source_file, task_id
        ) as rank,
        count(*) filter (where status = 'differs') over (partition by run_id) as n_concerned,
        count(*) over (partition by run_id) as n_total
    from main.reported_checks
    where status in ('equal', 'differs')
),
-- Figures that a run reported of itself and that differ from its rows.
misreported as (
    select
        run_id,
        'reported' as kind,
        true as is_overturning,
        stake,
        metric as subject,
        value,
        ours,
        n_concerned,
        n_total
    from reported
    where rank = 1 and status = 'differs'
),
-- Of recorded rollouts: a check may also find what left no row to open.
unhealthy_found as (
    select
        run_id,
        unnest(findings) as check_id,
        run_id || '/' || task_id || ':' || rollout_index as example
    from main.rollout_health
    where health = 'unhealthy'
),
checks as (
    select
        run_id,
        check_id,
        count(*) as n_rollouts,
        arg_min(example, (length(example), example)) as example
    from unhealthy_found
    group by all
),
commonest as (
    select
        run_id,
        arg_min(check_id, (-n_rollouts, check_id)) as subject,
        arg_min(example, (-n_rollouts, check_id)) as example
    from checks
    group by all
),
-- How much of a run a health check found something in, and what most often.
unhealthy as (
    select
        health.run_id,
        'unhealthy' as kind,
        false as is_overturning,
        1 - health.clean_rate as stake,
        commonest.subject,
        health.n_unhealthy as n_concerned,
        health.n_rollouts as n_total,
        1 - health.clean_rate as share,
        commonest.example
    from main.run_health as health
    inner join commonest using (run_id)
    where health.n_unhealthy > 0
),
attempts as (
    select
        run_id,
        max(n_reached) as n_attempts
    from main.funnel
    group by all
),
-- Where a run loses most: stage, mode, retries; and what to look into first. The stake is half of what
-- is lost there.
stages as (
    select
        run_id,
        stage,
        n_lost,
        n_reached + n_lost as n_before,
        max(n_reached) over (partition by run_id) as n_attempts,
        lag(stage_no) over (partition by run_id order by stage_no) as stage_before,
        row_number() over (
            partition by run_id
            order by stage in ('recorded', 'passed') or drop_rank is null, drop_rank, stage_no
        ) as rank
    from main.funnel
),
lost as (
    select
        stages.run_id,
        stages.stage,
        min(run_id || '/' || ends.task_id || ':' || ends.rollout_index) as example
    from stages
    inner join main.rollout_stages as ends using (run_id)
    where stages.rank = 1 and ends.last_stage_no = stages.stage_before
    group by all
),
funnel as (
    select
        stages.run_id,
        'funnel' as kind,
        stages.n_lost / nullif(2 * stages.n_attempts, 0) as stake,
        stages.stage as subject,
        stages.n_lost as n_concerned,
        stages.n_before as n_total,
        stages.n_lost / nullif(stages.n_before, 0) as share,
        lost.example
    from stages
    left join lost using (run_id, stage)
    where stages.rank = 1 and stages.n_lost > 0 and stages.stage not in ('recorded', 'passed')
),
-- The first mode of a run, with how many passes bear it.
modes as (
    select
        run_id,
        'mode' as kind,
        n_failures / nullif(2 * n_attempts, 0) as stake,
        mode as subject,
        n_failures as n_concerned,
        n_failures_observed as n_total,
        n_passes as n_beside,
        n_passes_observed as n_beside_of,
        is_graded,
        share_of_failures as share,
        citations[1] as example
    from main.failure_modes
    inner join attempts using (run_id)
    where is_told and parent is null and n_failures > 0 and reason <> 'behaviour'
    qualify row_number() over (partition by run_id order by rank, mode) = 1
),
retries as (
    select
        heads.run_id,
        'retries' as kind,
        -- Of the attempts that there are, over all scored tasks, as the sentence counts them.
        difference(heads.any_pass_rate, heads.pass_at_1) as value,
        value / 2 as stake,
        heads.pass_at_1 as low,
        heads.any_pass_rate as high,
        heads.n_sometimes_tasks as n_concerned,
        heads.n_scored_tasks as n_total,
        contrasts.failing as example
    from report.headlines as heads
    left join report.contrasts
        on contrasts.run_id = heads.run_id
        and contrasts.rank = 1
    where not heads.is_single_repeat
),
found as (
    select * from changes
    union all by name
    select * from nothing_scored
    union all by name
    select * from unsettled
    union all by name
    select * from unknown
    union all by name
    select * from missing
    union all by name
    select * from misreported
    union all by name
    select * from unhealthy
    union all by name
    select * from funnel
    union all by name
    select * from modes
    union all by name
    select * from retries
),
-- Doubt that could overturn the rest comes first, then a change between runs that is settled.
weighed as (
    select
        found.* exclude (is_decided, is_overturning),
        case
            when found.is_overturning then 1
            when found.is_decided then 2
            else 3
        end as tier,
        list_position(
            [
                'unscored', 'unsettled', 'unknown', 'reported', 'change', 'missing',
                'unhealthy', 'funnel', 'mode', 'retries'
            ],
            found.kind
        ) as kind_no,
        runs.benchmark,
        run_order.place as run_place,
        count(*) over (partition by found.kind) - 1 as n_alike
    from found
    inner join main.runs using (run_id)
    inner join staging.run_order using (run_id)
    where found.is_overturning or found.verdict is not null or round(found.stake, 9) > 0
),
ranked as (
    select
        *,
        row_number() over (
            partition by run_id order by tier, round(stake, 9) desc, kind_no
        ) as run_rank,
        row_number() over (
            partition by kind order by tier, round(stake, 9) desc, benchmark, run_place, run_id
        ) as kind_rank
    from weighed
),
-- The first three are of different kinds where there are so many: each kind sends its foremost.
opening as (
    select
        *,
        row_number() over (
            order by kind_rank > 1, tier, round(stake, 9) desc, kind_no
        ) as opening_rank
    from ranked
)
select
    row_number() over (
        order by
            kind_rank > 1 or opening_rank > 3,
            tier,
            round(stake, 9) desc,
            kind_no, benchmark, run_place, run_id
    ) as finding_no,
    run_rank,
    kind,
    run_id,
    benchmark,
    coalesce(metric, 'pass_at_1') as metric,
    stake,
    subject,
    base,
    verdict,
    value,
    ours,
    low,
    high,
    n_concerned,
    n_total,
    n_beside,
    n_beside_of,
    is_graded,
    share,
    n_tasks,
    n_alike,
    example
from opening
order by finding_no
