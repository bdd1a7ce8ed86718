-- What a task contributes to a run's figures, with the variance its own sampling gives it.
-- grain: run_id, slice_key, slice_value, metric, k, task_group, n_scored, n_passed, value, sampling_variance
-- kind: table
with
-- The whole run has a curve; a slice only its first point.
points as (
    select
        tallies.*,
        unnest(range(1, case when slice_key = '' then n_scored else 1 end + 1)) as k
    from staging.pass_tallies as tallies
),
-- None of k repeats passes; all of them do; and each among twice as many.
drawn as (
    select
        points.*,
        coalesce(failing.share, 0) as none_of_k,
        coalesce(passing.share, 0) as all_of_k,
        case when 2 * points.k <= points.n_scored then coalesce(failing_twice.share, 0) end as none_of_2k,
        case when 2 * points.k <= points.n_scored then coalesce(passing_twice.share, 0) end as all_of_2k
    from points
    left join staging.subset_shares as failing
        on failing.n = points.n_scored
        and failing.m = points.n_scored - points.n_passed
        and failing.k = points.k
    left join staging.subset_shares as passing
        on passing.n = points.n_scored
        and passing.m = points.n_passed
        and passing.k = points.k
    left join staging.subset_shares as failing_twice
        on failing_twice.n = points.n_scored
        and failing_twice.m = points.n_scored - points.n_passed
        and failing_twice.k = 2 * points.k
    left join staging.subset_shares as passing_twice
        on passing_twice.n = points.n_scored
        and passing_twice.m = points.n_passed
        and passing_twice.k = 2 * points.k
)
select
    run_id,
    slice_key,
    slice_value,
    'pass_at' as metric,
    k,
    task_group,
    n_scored,
    n_passed,
    n_passed > 0 and n_passed < n_scored as is_mixed,
    1 - none_of_k as value,
    none_of_k * none_of_k - none_of_2k as sampling_variance,
    n_tasks
from drawn
union all
select
    run_id,
    slice_key,
    slice_value,
    'pass_hat' as metric,
    k,
    task_group,
    n_scored,
    n_passed,
    n_passed > 0 and n_passed < n_scored as is_mixed,
    all_of_k as value,
    all_of_k * all_of_k - all_of_2k as sampling_variance,
    n_tasks
from drawn
where slice_key = ''
union all
select
    run_id,
    slice_key,
    slice_value,
    'mean_reward' as metric,
    1 as k,
    task_group,
    n_scored,
    null as n_passed,
    min_reward < max_reward as is_mixed,
    mean_reward as value,
    reward_std * reward_std / n_scored as sampling_variance,
    count(*) as n_tasks
from staging.scored_tasks
group by all
