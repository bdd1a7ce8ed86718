-- The mean change of each other figure over the tasks that two runs share, with its error.
-- grain: base, candidate, metric
-- kind: table
-- needs: staging.run_pairs
with pairs as materialized (
    select *, candidate_value - base_value as change from staging.measure_pairs
),
means as materialized (
    select
        base, candidate, metric,
        min(k) as k,
        count(*) as n_tasks,
        steady_sum(base_value) / count(*) as base_value,
        steady_sum(candidate_value) / count(*) as candidate_value,
        steady_sum(change) / count(*) as delta
    from pairs
    group by base, candidate, metric
),
-- About the mean: of large numbers that vary little, squares would leave nothing but rounding.
deviations as (
    select base, candidate, metric, difference(pairs.change, means.delta) as deviation
    from pairs
    inner join means using (base, candidate, metric)
),
spreads as (
    select base, candidate, metric, steady_sum(deviation * deviation) as square_sum
    from deviations
    group by all
)
select
    * exclude (square_sum),
    sqrt(square_sum / nullif(n_tasks - 1, 0) / n_tasks) as se_new_tasks
from means
inner join spreads using (base, candidate, metric)
