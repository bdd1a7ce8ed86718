-- How many tasks of each run never pass, how many of them another run passes, and what most share.
-- grain: run_id
-- needs: main.never_dives
with
-- Several modes may be equally common.
commonest as (
    select run_id, list(mode order by mode) as modes, max(n_tasks) as n_with_mode
    from (
        select run_id, mode, count(*) as n_tasks
        from main.never_dives
        where mode <> 'UNEXPLAINED'
        group by run_id, mode
        qualify rank() over (partition by run_id order by count(*) desc) = 1
    )
    group by all
)
select
    run_id,
    count(*) as n_tasks,
    count(*) filter (where n_passing_runs > 0) as n_passed_elsewhere,
    coalesce(any_value(commonest.modes), []) as modes,
    any_value(commonest.n_with_mode) as n_with_mode
from main.never_dives
left join commonest using (run_id)
group by run_id
order by run_id
