-- What k attempts at a task are worth beside one: to try again, to take the majority, to know the best.
-- grain: run_id, k
-- kind: table
with points as (
    select
        *,
        max(k) over (partition by run_id) > 1 as has_repeats
    from main.pass_curve
),
rates as (
    select * from staging.task_values where slice_key = '' and metric = 'pass_at' and k = 1
),
repeats as (
    select distinct run_id, n_scored
    from rates
),
-- pass@1 of the tasks with at least so many repeats; their number tells them apart.
firsts as (
    select
        repeats.run_id,
        repeats.n_scored,
        cast(sum(rates.n_tasks) as bigint) as n_tasks,
        sorted_sum(rates.n_tasks * rates.value) / nullif(sum(rates.n_tasks), 0) as pass_at_1
    from repeats
    inner join rates
        on rates.run_id = repeats.run_id
        and rates.n_scored >= repeats.n_scored
    group by repeats.run_id, repeats.n_scored
)
select
    points.run_id,
    points.k,
    points.n_tasks,
    firsts.pass_at_1,
    points.pass_at,
    case when points.has_repeats then difference(points.pass_at, firsts.pass_at_1) end as retry_value,
    points.maj_at,
    case when points.has_repeats then difference(points.maj_at, firsts.pass_at_1) end as majority_value,
    case when points.has_repeats then difference(points.pass_at, points.maj_at) end as selection_gap,
    points.max_at as best_reward
from points
left join firsts using (run_id, n_tasks)
