-- The step of each run that is said to be a checkpoint, and what it is a checkpoint of.
-- grain: run_id
with

settings as (

    select
        run_id,
        max(value) filter (where name in ('step', 'global_step')) as step

    from staging.run_settings

    group by all

),

steps as (

    select
        runs.run_id,
        runs.benchmark,
        runs.model,
        checkpoint_step(runs.run_id) as named_step,
        coalesce(
            checkpoint_step(runs.checkpoint),
            json_as_number(runs.checkpoint),
            json_as_number(settings.step)
        ) as said_step

    from main.runs as runs

    left join settings using (run_id)

),

-- The run's own name goes before a file, which several runs may share. A number from a file is not in
-- the name that says whose it is: there the model tells, which is the run's name where none is known.
final as (

    select
        run_id,
        benchmark,
        case
            when named_step is not null then checkpoint_stem(run_id)
            else without_number(model, said_step)
        end as stem,
        coalesce(named_step, said_step) as step

    from steps

    where named_step is not null or said_step is not null

)

select * from final
