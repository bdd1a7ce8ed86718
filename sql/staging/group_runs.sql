-- The runs of each group of related runs, with what their names begin with and how many there are.
-- grain: run_id
with

runs as (

    select
        run_groups.run_id,
        run_groups.group_id,
        run_groups.package,
        run_keys.run_name

    from staging.run_groups as run_groups

    inner join staging.run_keys as run_keys using (run_id)

),

groups as (

    select
        group_id,
        min(package) as group_package,
        min(run_name) as first_name,
        count(distinct run_name) as n_names

    from runs

    group by all

),

final as (

    select
        runs.run_id,
        runs.group_id,
        runs.run_name,
        groups.group_package,
        groups.first_name,
        groups.n_names

    from runs

    inner join groups using (group_id)

)

select * from final
