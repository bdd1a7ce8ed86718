-- What k attempts at a task are worth beside one: to try again, to take the majority, to know the best.
-- grain: run_id, k
-- looks at: run
with rates as (from staging.task_values where slice_key = '' and metric = 'pass_at' and k = 1),
-- pass@1 of the tasks with at least so many repeats; their number distinguishes them.
firsts as (
    select
        run_id,
        cast(sum(rates.n_tasks) as bigint) as n_tasks,
        sorted_sum(rates.n_tasks * rates.value) / nullif(sum(rates.n_tasks), 0) as pass_at_1
    from (select distinct run_id, n_scored from rates) as repeats
    inner join rates using (run_id)
    where rates.n_scored >= repeats.n_scored
    group by run_id, repeats.n_scored
)
select
    run_id,
    k,
    n_tasks,
    firsts.pass_at_1,
    pass_at,
    case when k_max > 1 then difference(pass_at, firsts.pass_at_1) end as retry_value,
    maj_at,
    case when k_max > 1 then difference(maj_at, firsts.pass_at_1) end as majority_value,
    case when k_max > 1 then difference(pass_at, maj_at) end as selection_gap,
    max_at as best_reward
from (select *, max(k) over (partition by run_id) as k_max from main.pass_curve) as points
left join firsts using (run_id, n_tasks)
order by run_id, k
