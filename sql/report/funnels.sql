-- The stages of each run's funnel in order, the largest loss marked, and the one before a verdict.
-- grain: run_id, stage_no
select
    *,
    first_value(n_reached) over (partition by run_id order by stage_no) as n_all,
    n_lost / nullif(first_value(n_reached) over (partition by run_id order by stage_no), 0)
        as lost_rate,
    coalesce(drop_rank = 1, false) as is_largest_drop,
    coalesce(
        drop_rank = min(case when stage <> 'passed' then drop_rank end) over (partition by run_id),
        false
    ) and stage <> 'passed' as is_largest_before_verdict
from main.funnel
order by run_id, stage_no
