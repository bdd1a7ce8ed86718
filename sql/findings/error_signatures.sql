-- The same error as one row: its message without numbers, paths and ids, and whom it hits.
-- grain: run_id, source, signature
with hit as (
    select
        run_id,
        source,
        signature,
        task_id,
        count(*) as n_events,
        count(distinct rollout_index) as n_rollouts,
        count(distinct rollout_index) filter (where coalesce(not is_pass, not is_scored, true))
            as n_failed,
        arg_min((message, citation), (rollout_index, place)) as first_error
    from staging.errors
    left join staging.attempts using (run_id, task_id, rollout_index)
    group by all
)
select
    run_id,
    source,
    signature,
    cast(sum(n_events) as bigint) as n_events,
    cast(sum(n_rollouts) as bigint) as n_rollouts,
    cast(sum(n_failed) as bigint) as n_failed,
    count(*) as n_tasks,
    list(task_id order by task_id)[1:20] as task_ids,
    arg_min(first_error, task_id)[1] as message,
    arg_min(first_error, task_id)[2] as example
from hit
group by all
order by run_id, source, signature
