-- How many tasks of each run never pass, how many of them another run passes, and what most share.
-- grain: run_id
-- needs: main.never_dives
with dives as (
    select dives.run_id, dives.n_passing_runs, dives.mode, causes.cause
    from main.never_dives as dives
    left join main.root_causes as causes
        on causes.run_id = dives.run_id
        and causes.task_id = dives.task_id
),
named as (
    select
        run_id,
        unnest(['mode', 'cause']) as kind,
        unnest([mode, cause]) as name
    from dives
),
-- Several may be equally common.
ranked as (
    select
        run_id,
        kind,
        name,
        count(*) as n_tasks,
        rank() over (partition by run_id, kind order by count(*) desc) as rank
    from named
    where name <> 'UNEXPLAINED'
    group by run_id, kind, name
),
commonest as (
    select
        run_id,
        list(name order by name) filter (where kind = 'mode') as modes,
        max(n_tasks) filter (where kind = 'mode') as n_with_mode,
        list(name order by name) filter (where kind = 'cause') as causes,
        max(n_tasks) filter (where kind = 'cause') as n_with_cause
    from ranked
    where rank = 1
    group by all
),
counted as (
    select
        run_id,
        count(*) as n_tasks,
        count(*) filter (where n_passing_runs > 0) as n_passed_elsewhere
    from dives
    group by all
)
select
    counted.run_id,
    counted.n_tasks,
    counted.n_passed_elsewhere,
    coalesce(commonest.modes, []) as modes,
    commonest.n_with_mode,
    coalesce(commonest.causes, []) as causes,
    commonest.n_with_cause
from counted
left join commonest using (run_id)
order by counted.run_id
