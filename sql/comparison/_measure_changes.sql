-- The mean change of each other figure over the tasks that two runs share, with its error.
-- grain: base, candidate, metric
-- kind: table
with pairs as (
    select
        *,
        candidate_value - base_value as change
    from staging.measure_pairs
),
means as (
    select
        base,
        candidate,
        metric,
        min(k) as k,
        count(*) as n_tasks,
        steady_sum(base_value) / count(*) as base_value,
        steady_sum(candidate_value) / count(*) as candidate_value,
        steady_sum(change) / count(*) as delta
    from pairs
    group by base, candidate, metric
),
-- About the mean: of large numbers that vary little, squares would leave nothing but rounding.
spreads as (
    select
        pairs.base,
        pairs.candidate,
        pairs.metric,
        steady_sum(square(difference(pairs.change, means.delta))) as square_sum
    from pairs
    inner join means using (base, candidate, metric)
    group by pairs.base, pairs.candidate, pairs.metric
)
select
    means.base,
    means.candidate,
    means.metric,
    means.k,
    means.n_tasks,
    means.base_value,
    means.candidate_value,
    means.delta,
    sqrt(spreads.square_sum / nullif(means.n_tasks - 1, 0) / means.n_tasks) as se_new_tasks
from means
inner join spreads using (base, candidate, metric)
