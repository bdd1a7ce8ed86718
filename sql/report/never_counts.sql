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
        row_number() over (
            partition by run_id order by mode = 'UNEXPLAINED', count(*) desc, mode
        ) as rank

    from dives

    group by run_id, mode

),

by_cause as (

    select
        run_id,
        cause,
        count(*) as n_tasks,
        row_number() over (
            partition by run_id order by cause = 'UNEXPLAINED', count(*) desc, cause
        ) as rank

    from dives

    where cause is not null

    group by run_id, cause

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
        by_mode.mode,
        by_mode.n_tasks as n_with_mode,
        by_cause.cause,
        by_cause.n_tasks as n_with_cause

    from counted

    inner join by_mode
        on by_mode.run_id = counted.run_id
        and by_mode.rank = 1

    left join by_cause
        on by_cause.run_id = counted.run_id
        and by_cause.rank = 1

    order by counted.run_id

)

select * from final
