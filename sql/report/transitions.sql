-- How many tasks of each comparison went from bucket to bucket, and how many noise alone would move.
-- grain: base, candidate, bucket_before, bucket_after
-- looks at: across
-- kind: table
-- needs: staging.run_pairs
with moved as (
    select
        base,
        candidate,
        base_bucket as bucket_before,
        candidate_bucket as bucket_after,
        count(*) as n_tasks,
        steady_sum(pass_change) as total_change
    from main.comparison_tasks
    where is_common
    group by all
),
sizes as (
    select
        base,
        candidate,
        sum(n_tasks) as n_common_tasks
    from moved
    group by all
)
select
    noise.base,
    noise.candidate,
    split_part(noise.line, ' to ', 1) as bucket_before,
    split_part(noise.line, ' to ', 2) as bucket_after,
    coalesce(moved.n_tasks, 0) as n_tasks,
    noise.n_tasks as n_tasks_by_noise,
    coalesce(moved.total_change / nullif(sizes.n_common_tasks, 0), 0) as pass_change
from staging.transition_noise as noise
inner join sizes using (base, candidate)
left join moved
    on moved.base = noise.base
    and moved.candidate = noise.candidate
    and moved.bucket_before || ' to ' || moved.bucket_after = noise.line
order by
    noise.base,
    noise.candidate,
    list_position(['always', 'sometimes', 'never'], bucket_before),
    list_position(['always', 'sometimes', 'never'], bucket_after)
