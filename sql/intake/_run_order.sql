-- The order of a benchmark's runs: what is alike but for a number together, by that number.
-- grain: run_id
-- kind: table
with settings as (
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
    from main.runs
    left join settings using (run_id)
),
-- The step of each run that is said to be a checkpoint, and what it is a checkpoint of.
-- The run's own name goes before a file, which several runs may share. A number from a file is not in
-- the name that says whose it is: there the model tells, which is the run's name where none is known.
checkpoints as (
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
),
others as (
    select
        runs.run_id,
        runs.benchmark,
        unnest(numbers_of(runs.run_id)) as found
    from main.runs
    left join checkpoints using (run_id)
    where checkpoints.run_id is null
),
varying as (
    select
        benchmark,
        found.stem as stem
    from others
    group by all
    having min(found.number) < max(found.number)
),
-- Of the numbers in which a run's name differs from another's, the last.
ranked as (
    select
        others.run_id,
        others.found.stem as stem,
        others.found.number as step,
        row_number() over (partition by others.run_id order by others.found.place desc) as rank
    from others
    inner join varying
        on others.benchmark = varying.benchmark and others.found.stem = varying.stem
),
ordered as (
    select
        runs.benchmark,
        runs.run_id,
        coalesce(checkpoints.stem, ranked.stem, runs.run_id) as stem,
        coalesce(checkpoints.step, ranked.step) as step,
        checkpoints.run_id is not null as is_checkpoint
    from main.runs
    left join checkpoints using (run_id)
    left join ranked
        on runs.run_id = ranked.run_id and ranked.rank = 1
)
select
    benchmark,
    run_id,
    stem,
    step,
    row_number() over (
        partition by benchmark
        order by natural_order(stem), stem, step nulls first, natural_order(run_id), run_id
    ) as place,
    is_checkpoint
from ordered
