-- How many tasks of each run never pass, how many of them another run passes, and what most share.
-- grain: run_id
with

dives as (

    select
        dives.run_id,
        dives.n_passing_runs,
        dives.mode,
        causes.cause

    from main.never_dives as dives

    left join main.root_causes as causes
        on causes.run_id = dives.run_id
        and causes.task_id = dives.task_id

),

by_mode as (

    select
        run_id,
        mode,
        count(*) as n_tasks,
        rank() over (partition by run_id order by count(*) desc) as rank

    from dives

    where mode <> 'UNEXPLAINED'

    group by run_id, mode

),

by_cause as (

    select
        run_id,
        cause,
        count(*) as n_tasks,
        rank() over (partition by run_id order by count(*) desc) as rank

    from dives

    where cause <> 'UNEXPLAINED'

    group by run_id, cause

),

-- Several may be equally common.
modes as (

    select
        run_id,
        list(mode order by mode) as modes,
        max(n_tasks) as n_tasks

    from by_mode

    where rank = 1

    group by all

),

causes as (

    select
        run_id,
        list(cause order by cause) as causes,
        max(n_tasks) as n_tasks

    from by_cause

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

),

final as (

    select
        counted.run_id,
        counted.n_tasks,
        counted.n_passed_elsewhere,
        modes.run_id is null as is_unexplained,
        coalesce(modes.modes, []) as modes,
        modes.n_tasks as n_with_mode,
        coalesce(causes.causes, []) as causes,
        causes.n_tasks as n_with_cause

    from counted

    left join modes using (run_id)

    left join causes using (run_id)

    order by counted.run_id

)

select * from final
