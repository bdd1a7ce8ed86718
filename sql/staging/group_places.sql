-- The innermost folder that all runs of a group lie in.
-- grain: group_id
with

shared as (

    select
        group_runs.group_id,
        places.depth,
        min(places.name) as name

    from staging.group_runs as group_runs

    inner join raw.files as files using (run_name)

    inner join raw.places as places using (file_no)

    group by group_runs.group_id, places.depth, group_runs.n_names

    having
        count(distinct places.name) = 1
        and count(distinct group_runs.run_name) = group_runs.n_names

),

ranked as (

    select
        *,
        row_number() over (partition by group_id order by depth desc) as rank

    from shared

),

final as (

    select
        group_id,
        name

    from ranked

    where rank = 1

)

select * from final
