-- The benchmark of each run: as given, else its package, else what its runs' names share.
-- grain: run_id
-- kind: table
with

settings as (

    select * from raw.settings

),

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
        min(package) as package,
        min(run_name) as first_name,
        count(distinct run_name) as n_names

    from runs

    group by all

),

-- The innermost folder that all runs of the group lie in.
shared_places as (

    select
        runs.group_id,
        places.depth,
        min(places.name) as name

    from runs

    inner join groups using (group_id)

    inner join raw.files as files using (run_name)

    inner join raw.places as places using (file_no)

    group by runs.group_id, places.depth, groups.n_names

    having count(distinct places.name) = 1 and count(distinct runs.run_name) = groups.n_names

),

innermost as (

    select
        *,
        row_number() over (partition by group_id order by depth desc) as rank

    from shared_places

),

tokens as (

    select
        group_id,
        run_name,
        unnest(str_split_regex(run_name, '[-_.]+')) as token

    from runs

),

shared as (

    select
        tokens.group_id,
        tokens.token,
        min(strpos(groups.first_name, tokens.token)) as position

    from tokens

    inner join groups using (group_id)

    where
        groups.n_names > 1
        and not regexp_matches(lower(tokens.token), '^(\d*[bmk]?|rollouts?|examples?|runs?|models?|agents?|results?|evals?|outputs?|vs)$')

    group by tokens.group_id, tokens.token, groups.n_names

    having count(distinct tokens.run_name) = groups.n_names

),

shared_names as (

    select
        group_id,
        string_agg(token, '_' order by position, token) as name

    from shared

    group by all

),

named as (

    select
        groups.group_id,
        coalesce(
            groups.package, shared_names.name, innermost.name, groups.first_name
        ) as wanted

    from groups

    left join shared_names using (group_id)

    left join innermost
        on innermost.group_id = groups.group_id
        and innermost.rank = 1

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
        runs.run_id,
        coalesce(settings.benchmark, unique_names.benchmark) as benchmark

    from runs

    inner join unique_names using (group_id)

    cross join settings

)

select * from final
