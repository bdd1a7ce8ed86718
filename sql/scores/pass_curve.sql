-- What k attempts at a task reach, by k: any passes, all pass, the best reward, the majority.
-- grain: run_id, k
-- kind: table
with levels as (
    select
        run_id,
        k,
        max(value) filter (where metric = 'pass_at') as pass_at,
        max(value) filter (where metric = 'pass_hat') as pass_hat
    from staging.estimates
    where slice_key = ''
    group by all
),
-- The best of k repeats falls short of the best of all by each step that lies above every one.
shortfalls as (
    select
        steps.run_id,
        shares.k,
        sorted_sum(steps.total_step * shares.share) as shortfall
    from staging.reward_steps as steps
    inner join staging.subset_shares as shares
        on shares.n = steps.n_scored
        and shares.m = steps.n_below
    group by all
),
longest as (
    select
        run_id,
        max(n_scored) as k_max
    from staging.repeat_counts as repeats
    group by all
),
points as (
    select
        run_id,
        unnest(range(1, k_max + 1)) as k
    from longest
),
-- Every k a run's curve has: 1 to its largest number of scored repeats, and the tasks with so many.
curve_points as (
    select
        points.run_id,
        points.k,
        cast(sum(repeats.n_tasks) as bigint) as n_tasks,
        sorted_sum(repeats.total_max_reward) as total_max_reward
    from points
    inner join staging.repeat_counts as repeats
        on repeats.run_id = points.run_id
        and repeats.n_scored >= points.k
    group by points.run_id, points.k
)
select
    points.run_id,
    points.k,
    points.n_tasks,
    levels.pass_at,
    levels.pass_hat,
    (points.total_max_reward - coalesce(shortfalls.shortfall, 0)) / points.n_tasks as max_at,
    majorities.maj_at
from curve_points as points
left join levels using (run_id, k)
left join shortfalls using (run_id, k)
left join staging.majorities using (run_id, k)
