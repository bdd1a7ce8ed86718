-- How many attempts of a task have each mode, and of how many it is the primary one.
-- grain: run_id, task_id, mode
with

runs as (

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

final as (

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

)

select * from final
