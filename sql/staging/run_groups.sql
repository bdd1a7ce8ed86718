-- Runs that belong to one benchmark: those that share half of the smaller one's tasks, joined up.
-- grain: run_id
-- kind: table
with recursive

runs as (

    select
        run_keys.run_id,
        min(files.package) as package

    from staging.run_keys as run_keys

    inner join raw.files as files using (run_name)

    group by all

),

shared as (

    select
        left_run,
        right_run

    from staging.shared_tasks

    where 2 * n_shared >= n_smaller

),

links as (

    select
        left_run,
        right_run

    from shared

    union

    select
        right_run as left_run,
        left_run as right_run

    from shared

    union

    select
        left_runs.run_id as left_run,
        right_runs.run_id as right_run

    from runs as left_runs

    inner join runs as right_runs using (package)

),

reached as (

    select
        run_id,
        run_id as reached_run

    from runs

    union

    select
        reached.run_id,
        links.right_run as reached_run

    from reached

    inner join links on links.left_run = reached.reached_run

),

final as (

    select
        reached.run_id,
        min(reached.reached_run) as group_id,
        min(runs.package) as package

    from reached

    inner join runs on runs.run_id = reached.reached_run

    group by all

)

select * from final
