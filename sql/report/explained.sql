-- What explains a run's failures: the record, its checks, the trajectory, or nothing.
-- grain: run_id
-- needs: main.failure_modes
select
    run_id,
    cast(sum(n_rollouts) as bigint) as n_failures,
    cast(coalesce(sum(n_rollouts) filter (where mode = 'UNGRADED'), 0) as bigint) as n_ungraded,
    cast(coalesce(sum(n_rollouts) filter (where source = 'record' and mode <> 'UNGRADED'), 0) as bigint)
        as n_by_record,
    cast(coalesce(sum(n_rollouts) filter (where source = 'check'), 0) as bigint) as n_by_checks,
    cast(coalesce(
        sum(n_rollouts) filter (where source in ('trajectory', 'profile') and not is_description), 0
    ) as bigint) as n_by_trajectory,
    cast(coalesce(
        sum(n_rollouts) filter (where source in ('trajectory', 'profile') and is_description), 0
    ) as bigint) as n_described,
    cast(coalesce(sum(n_rollouts) filter (where mode = 'UNEXPLAINED'), 0) as bigint) as n_unexplained,
    coalesce(bool_and(n_events is null), false) as is_unobserved
from main.failure_modes
left join (select run_id, max(n_events) as n_events from staging.rollouts group by all) using (run_id)
group by run_id
order by run_id
