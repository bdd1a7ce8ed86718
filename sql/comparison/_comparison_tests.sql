-- How sure each change is: intervals, what could have been seen, p-values, a verdict.
-- grain: base, candidate, metric
-- kind: step
-- needs: staging.run_pairs
with bases as (
    select run_id as base, pass_threshold as base_threshold, n_expected as n_base_expected from main.runs
),
candidates as (
    select
        run_id as candidate,
        runs.pass_threshold as candidate_threshold,
        n_expected as n_candidate_expected,
        benchmarks.lowest,
        benchmarks.highest
    from main.runs
    inner join staging.run_benchmarks as benchmarks using (run_id)
)
select
    *,
    base_threshold is not null and candidate_threshold is not null as is_settled,
    n_base_expected is not null and n_candidate_expected is not null as is_expected_known,
    (select is_growing from raw.settings) as is_growing,
    -- How far apart two tasks can be.
    if(is_bounded, 1, highest - lowest) as value_range,
    -- The metric that decides: passes, or rewards where they are graded or nothing is a pass.
    (metric = 'mean_reward') = (
        coalesce(bool_or(is_graded) over (partition by base, candidate), false) or not is_settled
    ) as is_lead
from staging.comparison_levels
inner join staging.run_pairs using (base, candidate)
inner join bases using (base)
inner join candidates using (candidate)
left join staging.change_tests using (base, candidate, metric)
order by base, candidate, metric
