-- Every k a run's curve has: 1 to its largest number of scored repeats, and the tasks with so many.
-- grain: run_id, k
with

repeats as (

    select * from staging.repeat_counts

),

longest as (

    select
        run_id,
        max(n_scored) as k_max

    from repeats

    group by all

),

points as (

    select
        run_id,
        unnest(range(1, k_max + 1)) as k

    from longest

),

final as (

    select
        points.run_id,
        points.k,
        cast(sum(repeats.n_tasks) as bigint) as n_tasks,
        sorted_sum(repeats.total_max_reward) as total_max_reward

    from points

    inner join repeats
        on repeats.run_id = points.run_id
        and repeats.n_scored >= points.k

    group by points.run_id, points.k

)

select * from final
