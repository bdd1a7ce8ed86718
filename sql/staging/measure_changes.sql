-- The mean change of each other figure over the tasks that two runs share, with its error.
-- grain: base, candidate, metric
-- kind: table
with

sums as (

    select
        base,
        candidate,
        metric,
        min(k) as k,
        count(*) as n_tasks,
        steady_sum(base_value) / count(*) as base_value,
        steady_sum(candidate_value) / count(*) as candidate_value,
        steady_sum(candidate_value - base_value) / count(*) as delta,
        steady_sum(square(candidate_value - base_value)) as sum_of_squares

    from staging.measure_pairs

    group by base, candidate, metric

),

final as (

    select
        base,
        candidate,
        metric,
        k,
        n_tasks,
        base_value,
        candidate_value,
        delta,
        sqrt(
            greatest(sum_of_squares - n_tasks * square(delta), 0) / nullif(n_tasks - 1, 0) / n_tasks
        ) as se_new_tasks

    from sums

)

select * from final
