-- How many tasks a mode, an intervention or all modes affect in so many of so many attempts.
-- grain: run_id, scope, name, n_attempts, n_scored, n_passed, n_matching, n_primary
-- kind: table
with runs as (
    select run_id from main.runs where pass_threshold is not null
),
tasks as (
    select
        run_id,
        task_id,
        count(*) as n_attempts,
        count(*) filter (where is_scored) as n_scored,
        count(*) filter (where is_pass) as n_passed
    from staging.attempts
    group by all
),
-- Few beside all attempts: what is not among them is scored.
unscored as (
    select * from staging.attempts where not is_scored
),
counted as (
    select
        modes.run_id,
        modes.task_id,
        modes.mode,
        modes.intervention,
        count(*) filter (where unscored.run_id is null) as n_matching,
        count(*) filter (where modes.is_primary) as n_primary,
        count(*) filter (where modes.is_primary and not unscored.is_recorded) as n_unrecorded
    from main.rollout_modes as modes
    inner join runs using (run_id)
    left join unscored using (run_id, task_id, rollout_index)
    group by modes.run_id, modes.task_id, modes.mode, modes.intervention
),
-- How many attempts of a task have each mode, and of how many it is the primary one.
task_modes as (
    select
        counted.run_id,
        counted.task_id,
        counted.mode,
        counted.intervention,
        tasks.n_attempts,
        tasks.n_scored,
        tasks.n_passed,
        counted.n_matching,
        counted.n_primary,
        counted.n_unrecorded
    from counted
    inner join tasks using (run_id, task_id)
),
-- Of how many attempts of a task each mode, each intervention's modes or any mode are to blame.
affected_tasks as (
    select
        run_id,
        'mode' as scope,
        mode as name,
        task_id,
        n_attempts,
        n_scored,
        n_passed,
        n_matching,
        n_primary,
        n_unrecorded
    from task_modes as modes
    union all
    select
        run_id,
        'intervention' as scope,
        intervention as name,
        task_id,
        n_attempts,
        n_scored,
        n_passed,
        null as n_matching,
        cast(sum(n_primary) as bigint) as n_primary,
        cast(sum(n_unrecorded) as bigint) as n_unrecorded
    from task_modes as modes
    where intervention is not null and n_primary > 0
    group by run_id, intervention, task_id, n_attempts, n_scored, n_passed
    union all
    -- A failing attempt is an unexplained one, or has some mode.
    select
        run_id,
        'all' as scope,
        'all' as name,
        task_id,
        n_attempts,
        n_scored,
        n_passed,
        n_scored - n_passed
            - coalesce(max(case when mode = 'UNEXPLAINED' then n_matching end), 0) as n_matching,
        null as n_primary,
        null as n_unrecorded
    from task_modes as modes
    group by run_id, task_id, n_attempts, n_scored, n_passed
)
-- Tasks of one tally gain alike; the first of them that left a row to open stand for it.
select
    run_id,
    scope,
    name,
    n_attempts,
    n_scored,
    n_passed,
    n_matching,
    n_primary,
    count(*) as n_tasks,
    cast(sum(n_unrecorded) as bigint) as n_unrecorded,
    first_by(
        case when scope = 'intervention' and n_unrecorded < n_primary then task_id end,
        struct_pack(task_no := try_cast(task_id as bigint), task_id := task_id),
        5
    ) as task_ids
from affected_tasks
group by all
