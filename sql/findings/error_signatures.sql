-- The same error as one row: its message without paths, ids and numbers that differ, and whom it hits.
-- Of each run; where run_id is null, over all runs of the benchmark.
-- grain: benchmark, run_id, source, signature
-- looks at: run
-- kind: table
-- needs: staging.errors
with hit as (
    select
        benchmark,
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
    inner join staging.run_benchmarks using (run_id)
    left join staging.attempts using (run_id, task_id, rollout_index)
    group by all
)
select
    benchmark,
    run_id,
    source,
    signature,
    cast(sum(n_events) as bigint) as n_events,
    cast(sum(n_rollouts) as bigint) as n_rollouts,
    cast(sum(n_failed) as bigint) as n_failed,
    count(distinct task_id) as n_tasks,
    list(distinct task_id order by task_id)[1:20] as task_ids,
    arg_min(first_error, (task_id, run_id))[1] as message,
    arg_min(first_error, (task_id, run_id))[2] as example
from hit
group by grouping sets ((benchmark, run_id, source, signature), (benchmark, source, signature))
