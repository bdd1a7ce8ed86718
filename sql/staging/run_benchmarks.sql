-- The benchmark of each run: as given, else its package, else what its runs' names share.
-- grain: run_id
-- kind: table
with

settings as (

    select * from raw.settings

),

group_runs as (

    select * from staging.group_runs

),

named as (

    select
        group_runs.group_id,
        min(coalesce(
            group_runs.group_package,
            group_words.name,
            group_places.name,
            group_runs.first_name
        )) as wanted

    from group_runs

    left join staging.group_words as group_words using (group_id)

    left join staging.group_places as group_places using (group_id)

    group by all

),

-- Unrelated runs of one folder may want one name; the benchmark is a key.
unique_names as (

    select
        group_id,
        case
            when count(*) over (partition by wanted) = 1 then wanted
            else wanted || '-' || group_id
        end as benchmark

    from named

),

final as (

    select
        group_runs.run_id,
        coalesce(settings.benchmark, unique_names.benchmark) as benchmark

    from group_runs

    inner join unique_names using (group_id)

    cross join settings

)

select * from final
