-- Figures that a run reported of itself and that differ from its rows.
-- grain: run_id
with
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
)
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
