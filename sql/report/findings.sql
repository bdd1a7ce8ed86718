-- What matters most in an analysis, ranked by what is at stake in points of the score.
-- grain: finding_no
-- kind: table
with kinds as (
    select * from (values
        (1, 'unscored'),
        (2, 'unsettled'),
        (3, 'unknown'),
        (4, 'reported'),
        (5, 'change'),
        (6, 'missing'),
        (7, 'suspect'),
        (8, 'unhealthy'),
        (9, 'funnel'),
        (10, 'mode'),
        (11, 'unexplained'),
        (12, 'intervention'),
        (13, 'retries')
    ) as kinds (kind_no, kind)
),
found as (
    select * from report.finding_changes
    union all by name
    select * from report.finding_doubts
    union all by name
    select * from report.finding_reported
    union all by name
    select * from report.finding_health
    union all by name
    select * from report.finding_suspects
    union all by name
    select * from report.finding_losses
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
        kinds.kind_no,
        runs.benchmark,
        runs.place as run_place,
        count(*) over (partition by found.kind) - 1 as n_alike
    from found
    inner join kinds using (kind)
    inner join (
        select runs.run_id, runs.benchmark, run_order.place
        from main.runs
        inner join staging.run_order using (run_id)
    ) as runs using (run_id)
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
            kind_no,
            benchmark,
            run_place,
            run_id
    ) as finding_no,
    run_rank,
    kind,
    run_id,
    benchmark,
    coalesce(metric, 'pass_at_1') as metric,
    stake,
    subject,
    title,
    base,
    verdict,
    value,
    ours,
    low,
    high,
    n_concerned,
    n_total,
    share,
    n_tasks,
    n_pairs,
    n_alike,
    example
from opening
order by finding_no
