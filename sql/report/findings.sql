-- Doubts about the scores of runs and changes between runs, ranked by what is at stake in points of the score.
-- What failures have in common is in `main.findings`.
-- grain: finding_no
-- looks at: across
-- kind: table
-- needs: main.comparisons | report.headlines where is_unscored or is_unsettled or has_inferred or n_passed = 0 | main.failures | main.denominators where n_left_out > 0 | main.reported_checks where status = 'differs'
with comparisons as (
    select
        *,
        row_number() over (
            partition by benchmark, case when is_named then candidate else '' end
            -- Of one model what was tried before another model.
            order by is_changed desc, models.base is not null, abs(delta) desc, pair_no
        ) as rank
    from main.comparisons
    left join (select base, candidate from main.comparison_settings where setting = 'model') as models
        using (base, candidate)
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
-- What gives the rewards that are compared, where two runs record that it is not the same.
graded as (
    select
        base,
        candidate,
        list(setting order by setting) as unlike
    from main.comparison_settings
    where gives_rewards and unrecorded_by is null and base_value is distinct from candidate_value
    group by all
),
-- The one recorded setting that differs.
single_setting as (
    select
        base,
        candidate,
        setting || ' (' || base_value || ' and ' || candidate_value || ')' as only_setting
    from main.comparison_settings
    where is_only
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
        examples.candidate_example as example,
        graded.unlike,
        single_setting.only_setting
    from comparisons
    left join graded using (base, candidate)
    left join single_setting using (base, candidate)
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
        ended.subject,
        n_rollouts as n_total
    from report.headlines as heads
    -- The error that the log of the run records.
    left join (
        select
            run_id,
            left(value, 150) as subject
        from staging.run_settings
        where name = 'log_error'
    ) as ended using (run_id)
    where is_unscored
),
unsettled as (
    select
        run_id,
        'unsettled' as kind,
        true as is_overturning,
        1 as stake,
        -- Rewards of all runs of a benchmark decide what its scale is.
        min(min_reward) over (partition by benchmark) as low,
        max(max_reward) over (partition by benchmark) as high,
        sum(n_scored) over (partition by benchmark) as n_total
    from report.headlines as heads
    where is_unsettled
),
-- Beside others a benchmark in which nothing passes: of too few attempts that may be chance.
none_pass as (
    select
        arg_min(run_id, place) as run_id,
        'none_pass' as kind,
        true as is_decided,
        false as is_overturning,
        1 as stake,
        cast(sum(n_scored) as bigint) as n_concerned
    from report.headlines
    where (select count(distinct benchmark) from main.runs) > 1
    group by benchmark
    having bool_and(n_scored = 0 or n_passed is not null) and sum(n_scored) >= 10 and sum(n_passed) = 0
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
-- Runs whose verdict against another could be another with the tasks that only one of them has.
reversible as (
    select unnest([base, candidate]) as run_id
    from main.comparisons
    where is_lead and could_reverse
),
-- Nothing says what was expected, and something shows that not all of it is here.
unknown as (
    select
        heads.run_id,
        'unknown' as kind,
        heads.run_id in (from reversible) as is_overturning,
        greatest(
            coalesce(failed.n_failed, 0) / nullif(heads.n_rollouts + coalesce(failed.n_failed, 0), 0),
            coalesce(heads.n_inferred_missing_tasks, 0)
                / nullif(heads.n_scored_tasks + coalesce(heads.n_inferred_missing_tasks, 0), 0)
        ) as stake,
        coalesce(failed.n_failed, 0) as n_concerned,
        coalesce(heads.n_inferred_missing_tasks, 0) as n_tasks,
        heads.n_tasks + coalesce(heads.n_inferred_missing_tasks, 0) as n_all_tasks,
        heads.n_rollouts + coalesce(failed.n_failed, 0) as n_total,
        count(if(heads.n_inferred_missing_tasks > 0, 1, null)) over () as n_lacking,
        (select count(*) from main.runs) as n_runs,
        min(nullif(heads.n_inferred_missing_tasks, 0)) over () as fewest_lacking,
        max(heads.n_inferred_missing_tasks) over () as most_lacking
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
        policies.n_left_out + policies.n_rollouts as n_total,
        incomplete.n_runs - 1 as n_alike
    from main.denominators as policies
    -- A run of which nothing is scored has no pass@1 to move, but lacks scores all the same.
    cross join (
        select count(*) as n_runs
        from main.denominators
        where policy = 'dropped' and n_left_out > 0
    ) as incomplete
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
        count(if(status = 'differs', 1, null)) over (partition by run_id) as n_concerned,
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
    select * from none_pass
),
-- Runs beside one with ten times as many rollouts: tries, of which nothing leads. So is one of a handful where
-- another benchmark has so many, and one of published figures alone.
tries as (
    select heads.run_id
    from report.headlines as heads
    inner join main.runs using (run_id)
    where heads.n_rollouts > 0 or runs.reported_score is not null
    qualify
        heads.n_rollouts > 0 and 10 * heads.n_rollouts < max(heads.n_rollouts) over (partition by heads.benchmark)
        or heads.n_tasks < 5 and 10 * greatest(heads.n_rollouts, 1) < max(heads.n_rollouts) over ()
),
-- Doubt that could overturn the rest comes first, then what changed, or could by five points.
weighed as (
    select
        found.* exclude (is_decided, is_overturning, n_alike),
        case
            when tries.run_id is not null then 3
            when found.is_overturning then 1
            when found.is_decided or (found.kind = 'missing' and found.stake >= 0.05) then 2
            else 3
        end as tier,
        list_position(
            ['unscored', 'unsettled', 'unknown', 'reported', 'none_pass', 'change', 'missing'],
            found.kind
        ) as kind_no,
        runs.benchmark,
        run_order.place as run_place,
        coalesce(found.n_alike, count(*) over (partition by found.kind) - 1) as n_alike
    from found
    inner join main.runs using (run_id)
    inner join staging.run_order using (run_id)
    left join tries using (run_id)
    where found.is_overturning or found.verdict is not null or round(found.stake, 9) > 0
)
select
    row_number() over (
        order by
            tier,
            round(stake, 9) desc,
            kind_no,
            -- Of benchmarks in which nothing passes, that of most failures.
            case when kind = 'none_pass' then n_concerned end desc,
            benchmark,
            run_place,
            run_id
    ) as finding_no,
    tier,
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
    n_tasks,
    n_all_tasks,
    n_alike,
    n_lacking,
    n_runs,
    fewest_lacking,
    most_lacking,
    coalesce(unlike, []) as unlike,
    only_setting,
    example
from weighed
order by finding_no
