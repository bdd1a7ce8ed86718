-- The order of a benchmark's runs: what is alike but for a number together, by that number.
-- grain: run_id
-- looks at: across
-- kind: table
with settings as (
    select
        run_id,
        max(value) as step
    from staging.run_settings
    where name in ('step', 'global_step')
    group by all
),
-- The run's own name goes before a file, which several runs may share: the number after the last of
-- these words.
steps as (
    select
        runs.run_id,
        coalesce(runs.model, runs.run_id) as model,
        '(step|ckpt|checkpoint|epoch|(?:^|[^a-z])iter(?:ation)?)([-_]?)(\d+(?:\.\d+)?)' as pattern,
        json_as_number(regexp_extract(lower(runs.run_id), '.*' || pattern, 3)) as named_step,
        coalesce(
            json_as_number(regexp_extract(lower(runs.checkpoint), '.*' || pattern, 3)),
            json_as_number(runs.checkpoint),
            json_as_number(settings.step)
        ) as said_step,
        try_cast(said_step as bigint) as whole_step
    from main.runs
    left join settings using (run_id)
),
-- The step of each run that is a checkpoint, and what it is a checkpoint of. A step from a file is
-- not part of the run's name: then the model is used, or the name of the run if no model is known,
-- without this number where it is a whole word.
checkpoints as (
    select
        run_id,
        case
            when named_step is not null then regexp_replace(run_id, '(?i)' || pattern, '\1\2', 'g')
            when said_step = whole_step
                then regexp_replace(model, '(^|\D)0*' || whole_step || '(\D|$)', '\1\2', 'g')
            else model
        end as stem,
        coalesce(named_step, said_step) as step
    from steps
    where coalesce(named_step, said_step) is not null
),
-- Each number of the other names, and the name without it; a name of more than 40 is no name but
-- noise.
pieces as (
    select
        runs.benchmark,
        runs.run_id,
        string_split_regex(runs.run_id, '\d+') as words,
        regexp_extract_all(runs.run_id, '\d+') as numbers,
        unnest(generate_series(1, len(numbers))) as place
    from main.runs
    anti join checkpoints using (run_id)
    where len(regexp_extract_all(runs.run_id, '\d+')) <= 40
),
numbered as (
    select
        benchmark,
        run_id,
        place,
        json_as_number(numbers[place]) as step,
        array_to_string(
            list_transform(
                words,
                lambda word, position: word
                || case when position = place then '' else coalesce(numbers[position], '') end
            ),
            ''
        ) as stem
    from pieces
),
-- Of the numbers in which a run's name differs from another's, the last.
varying as (
    select *
    from numbered
    window by_stem as (partition by benchmark, stem)
    qualify min(step) over by_stem < max(step) over by_stem
),
last_varying as (
    select
        run_id,
        arg_max(stem, place) as stem,
        arg_max(step, place) as step
    from varying
    group by all
),
ordered as (
    select
        runs.benchmark,
        run_id,
        coalesce(checkpoints.stem, last_varying.stem, run_id) as stem,
        coalesce(checkpoints.step, last_varying.step) as step,
        checkpoints.run_id is not null as is_checkpoint
    from main.runs
    left join checkpoints using (run_id)
    left join last_varying using (run_id)
),
-- In the order of these texts a10 comes after a9: numbers at one width.
keyed as (
    select
        *,
        list_transform(
            [stem, run_id],
            lambda name: regexp_replace(
                regexp_replace(lower(name), '(\d+)', '00000000000000000000\1', 'g'),
                '\d*(\d{20})', '\1', 'g'
            )
        ) as sort_keys
    from ordered
)
select
    * exclude (sort_keys),
    row_number() over (
        partition by benchmark
        order by sort_keys[1], stem, step nulls first, sort_keys[2], run_id
    ) as place
from keyed
