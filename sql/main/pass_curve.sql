-- What k attempts at a task reach, by k: any passes, all pass, the best reward, the majority.
-- grain: run_id, k
-- kind: table
with

points as (

    select * from staging.curve_points

),

levels as (

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

majorities as (

    select * from staging.majorities

),

final as (

    select
        points.run_id,
        points.k,
        points.n_tasks,
        levels.pass_at,
        levels.pass_hat,
        (points.total_max_reward - coalesce(shortfalls.shortfall, 0)) / points.n_tasks as max_at,
        majorities.maj_at

    from points

    left join levels using (run_id, k)

    left join shortfalls using (run_id, k)

    left join majorities using (run_id, k)

)

select * from final
