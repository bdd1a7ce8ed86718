-- Which run a row belongs to, by its file's run name and its agent.
-- grain: run_name, agent_key
-- kind: table
with
-- From the files, not the rows: a run whose file is empty is still a run.
families as (
    select distinct run_name
    from raw.files
    where kind in ('rollouts', 'inputs', 'failures')
),
agents as (
    select run_name, agent
    from staging.records
    where agent is not null
    group by all
),
counted as (
    select
        families.run_name,
        count(agents.agent) as n_agents,
        min(agents.agent) as only_agent
    from families
    left join agents using (run_name)
    group by all
),
-- One agent or none: one run. Several: a run each, and one for the rows that name none.
candidates as (
    select
        run_name,
        '' as agent_key,
        only_agent as agent,
        run_name as wanted
    from counted
    where n_agents <= 1
    union all
    select distinct
        records.run_name,
        coalesce(records.agent, '') as agent_key,
        records.agent,
        -- It becomes the name of a folder.
        left(records.run_name || coalesce('--' || safe_name(records.agent), ''), 200) as wanted
    from staging.records
    inner join counted using (run_name)
    where counted.n_agents > 1
),
numbered as (
    select
        *,
        row_number() over (partition by lower(wanted) order by run_name, agent_key) as number
    from candidates
)
select
    run_name,
    agent_key,
    agent,
    case when number = 1 then wanted else wanted || '-' || left(md5(run_name || agent_key), 6) end
        as run_id
from numbered
