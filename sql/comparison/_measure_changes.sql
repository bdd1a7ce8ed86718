-- The mean change of each other figure over the tasks that two runs share, with its error.
-- With tasks that a side lacks, or has too few repeats of, at their least: `possible`.
-- grain: base, candidate, metric
-- kind: table
-- needs: staging.run_pairs
with pairs as materialized (
    select
        *,
        candidate_value - base_value as change,
        coalesce(candidate_least - base_least, change) as possible_change,
        coalesce(candidate_least - base_most, change) as least_possible,
        coalesce(candidate_most - base_least, change) as most_possible
    from staging.measure_pairs
),
means as materialized (
    select
        base, candidate, metric,
        min(k) as k,
        count(change) as n_tasks,
        steady_sum(if(change is null, null, base_value)) / nullif(n_tasks, 0) as base_value,
        steady_sum(if(change is null, null, candidate_value)) / nullif(n_tasks, 0) as candidate_value,
        steady_sum(change) / nullif(n_tasks, 0) as delta,
        count(*) as n_possible_groups,
        steady_sum(possible_change) / n_possible_groups as delta_possible,
        steady_sum(least_possible) / n_possible_groups as possible_low,
        steady_sum(most_possible) / n_possible_groups as possible_high
    from pairs
    group by base, candidate, metric
    having count(change) > 0
),
-- About the mean: of large numbers that vary little, squares would leave nothing but rounding.
deviations as (
    select
        base, candidate, metric,
        difference(pairs.change, means.delta) as deviation,
        difference(pairs.possible_change, means.delta_possible) as possible_deviation
    from pairs
    inner join means using (base, candidate, metric)
),
spreads as (
    select
        base, candidate, metric,
        steady_sum(deviation * deviation) as square_sum,
        steady_sum(possible_deviation * possible_deviation) as possible_square_sum
    from deviations
    group by all
)
select
    * exclude (square_sum, possible_square_sum),
    sqrt(square_sum / nullif(n_tasks - 1, 0) / n_tasks) as se_new_tasks,
    sqrt(possible_square_sum / nullif(n_possible_groups - 1, 0) / n_possible_groups) as se_possible,
    n_possible_groups - 1 as possible_degrees,
    -- Nothing bounds what a task takes.
    starts_with(metric, 'pass_') as is_bounded,
    if(is_bounded, 1, null) as value_range
from means
inner join spreads using (base, candidate, metric)
