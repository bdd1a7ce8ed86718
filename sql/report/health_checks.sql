-- How often each health check found something in a run, and some of the places.
-- grain: run_id, scope, check_id
-- looks at: run
-- kind: table
-- needs: main.health_findings
with places as (
    select
        run_id,
        scope,
        check_id,
        case
            when scope = 'rollout' then run_id || '/' || task_id || ':' || rollout_index
            when scope = 'task' then run_id || '/' || task_id
            -- A file and line name the run well enough.
            when check_id in ('record_unreadable', 'run_stale_failure') then subject
            else concat_ws(' ', run_id, nullif(subject, ''))
        end as place,
        -- What left no row cannot be opened.
        scope <> 'rollout' or keys.record_id is not null as is_there,
        count(*) as n_findings
    from main.health_findings
    left join staging.rollout_keys as keys using (run_id, task_id, rollout_index)
    group by all
),
ranked as (
    select
        *,
        row_number() over (
            partition by run_id, scope, check_id order by length(place), place
        ) as rank
    from places
)
select
    run_id,
    scope,
    check_id,
    cast(sum(n_findings) as bigint) as n_findings,
    count(*) as n_places,
    list(place order by rank) filter (where rank <= 3) as examples,
    min_by(place, rank) filter (where is_there) as example
from ranked
group by run_id, scope, check_id
order by
    run_id,
    case scope when 'rollout' then 1 when 'task' then 2 else 3 end,
    n_findings desc,
    check_id
