-- Expected beside actual, tool by tool: how many failures and passes did not call it as expected.
-- Counted, not tested: a rare mistake matters to its owner, too.
-- grain: benchmark, tool, status
-- looks at: run
with statuses as (
    select
        benchmark,
        run_id,
        task_id,
        rollout_index,
        tool,
        unnest([
            expected_calls.status,
            if(expected_calls.status in ('never', 'fewer', 'differs', 'refused'), 'not met', null)
        ]) as status,
        is_write,
        is_pass,
        seq
    from main.expected_calls
    inner join staging.rollouts using (run_id, task_id, rollout_index)
    inner join staging.run_benchmarks using (run_id)
    where is_pass is not null
),
totals as (
    select
        benchmark,
        count(*) filter (where not is_pass) as n_all_failures,
        count(*) filter (where is_pass) as n_all_passes
    from staging.rollouts
    inner join staging.run_benchmarks using (run_id)
    where run_id in (select run_id from main.expected_calls)
    group by all
)
select
    benchmark,
    tool,
    status,
    bool_or(is_write) as is_write,
    count(distinct (run_id, task_id, rollout_index)) filter (where not is_pass) as n_failures,
    count(distinct (run_id, task_id, rollout_index)) filter (where is_pass) as n_passes,
    n_all_failures,
    n_all_passes,
    count(distinct task_id) filter (where not is_pass) as n_tasks,
    list_sort(list(distinct task_id) filter (where not is_pass))[:20] as tasks,
    min_by(
        run_id || '/' || task_id || ':' || rollout_index || coalesce('#' || seq, ''),
        (task_id, rollout_index),
        3
    ) filter (where not is_pass) as citations
from statuses
inner join totals using (benchmark)
where status is not null and status not in ('made', 'none')
group by benchmark, tool, status, n_all_failures, n_all_passes
order by benchmark, tool, status
