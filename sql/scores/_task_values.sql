-- What a task contributes to a run's figures, with the variance its own sampling gives it.
-- grain: run_id, slice_key, slice_value, metric, k, task_group, n_scored, n_passed, value, sampling_variance
-- looks at: run
-- kind: table
with outcomes as (
    select
        outcomes.*,
        tasks.task_group
    from main.task_outcomes as outcomes
    inner join staging.run_tasks as tasks using (run_id, task_id)
    where
        outcomes.n_scored > 0
        and run_id in (select run_id from main.runs where n_passes_without_rows is null)
),
-- Scored tasks, once for the whole run (an empty slice) and once for each slice they are in.
scored as (
    select
        *,
        '' as slice_key,
        '' as slice_value
    from outcomes
    union all by name
    select
        outcomes.*,
        slices.name as slice_key,
        slices.value as slice_value
    from outcomes
    inner join staging.task_slices as slices using (benchmark, task_id)
),
-- How many tasks have so many passes of so many repeats: all that pass@k depends on.
tallies as (
    select
        run_id,
        slice_key,
        slice_value,
        task_group,
        n_scored,
        n_passed,
        n_passed > 0 and n_passed < n_scored as is_mixed,
        count(*) as n_tasks
    from scored
    where n_passed is not null
    group by all
),
-- None of k repeats passes, or all of them do: whole draws from so many of them. A slice has no curve.
draws as (
    select
        *,
        'pass_at' as metric,
        n_scored - n_passed as n_drawn
    from tallies
    union all
    select
        *,
        'pass_hat' as metric,
        n_passed as n_drawn
    from tallies
    where slice_key = ''
),
points as (
    select
        *,
        unnest(range(1, case when slice_key = '' then n_scored else 1 end + 1)) as k
    from draws
),
pools as (
    select
        *,
        unnest(range(1, n_drawn + 1)) as k
    from (select distinct n_scored, n_drawn from draws) as distinct_pools
),
-- The share of k-subsets of n items that are subsets of m of them: C(m, k) / C(n, k). A product of
-- ratios, each at most 1: logarithms of factorials err at n = 1,024. Beyond k = m there is no such
-- subset and no row: the share is 0.
shares as materialized (
    select
        *,
        product((n_drawn - k + 1) / (n_scored - k + 1)) over (
            partition by n_scored, n_drawn order by k
        ) as share
    from pools
),
drawn as (
    select
        points.*,
        coalesce(once.share, 0) as share,
        case when 2 * points.k <= points.n_scored then coalesce(twice.share, 0) end as share_of_twice
    from points
    left join shares as once using (n_scored, n_drawn, k)
    left join shares as twice
        on twice.n_scored = points.n_scored
        and twice.n_drawn = points.n_drawn
        and twice.k = 2 * points.k
)
select
    * exclude (n_drawn, share, share_of_twice),
    case metric when 'pass_at' then 1 - share else share end as value,
    share * share - share_of_twice as sampling_variance
from drawn
union all by name
select
    run_id,
    slice_key,
    slice_value,
    'mean_reward' as metric,
    1 as k,
    task_group,
    n_scored,
    min_reward < max_reward as is_mixed,
    mean_reward as value,
    reward_std * reward_std / n_scored as sampling_variance,
    count(*) as n_tasks
from scored
group by all
