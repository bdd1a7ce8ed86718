-- Which run a row belongs to, by its file's run name and its agent, or its variant.
-- grain: run_name, agent_key
-- looks at: across
-- kind: table
with
-- From the files, not the rows: a run whose file is empty is still a run.
families as (
    select distinct run_name
    from raw.files
    where kind in ('rollouts', 'inputs', 'failures')
),
parts as (
    select
        run_name,
        part,
        case when min(agent) = max(agent) then min(agent) end as agent
    from staging.records
    group by all
    union all
    -- A log without samples has figures alone, which say what they are of.
    select distinct
        run_name,
        bounded_name(figures.variant) as part,
        null as agent
    from raw.figures
    inner join raw.files using (file_no)
    anti join staging.records
        on records.run_name = files.run_name
        and records.part = bounded_name(figures.variant)
    where files.kind = 'rollouts' and figures.variant is not null
),
counted as (
    select
        run_name,
        parts.part,
        parts.agent,
        count(parts.part) over (partition by run_name) > 1 as has_several,
        min(parts.agent) over (partition by run_name) as only_agent,
        min(parts.part) over (partition by run_name) as only_part
    from families
    left join parts using (run_name)
),
-- One agent or none: one run. Several: a run each, and one for the rows that name none.
candidates as (
    select distinct
        run_name,
        case when has_several then coalesce(part, '') else '' end as agent_key,
        case when has_several then part else only_part end as part,
        case when has_several then agent else only_agent end as agent,
        case
            when has_several then run_name || coalesce('--' || safe_name(part), '') else run_name
        end as wanted
    from counted
)
select
    run_name,
    agent_key,
    part,
    agent,
    -- It becomes the name of a folder.
    safe_name(bounded_name(
        case
            when row_number() over (partition by lower(wanted) order by run_name, agent_key) = 1
                then wanted
            else wanted || '-' || left(md5(run_name || agent_key), 6)
        end
    )) as run_id
from candidates
