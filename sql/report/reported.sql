-- How many of the figures a run reported are equal to ours, differ, or cannot be compared, and why.
-- grain: run_id, status, reason
-- looks at: run
-- needs: main.reported_checks
with counted as (
    select
        run_id,
        status,
        coalesce(reason, '') as reason,
        count(*) as n_figures
    from main.reported_checks
    group by all
)
select *
from counted
order by
    run_id,
    case status when 'equal' then 1 when 'differs' then 2 else 3 end,
    reason
