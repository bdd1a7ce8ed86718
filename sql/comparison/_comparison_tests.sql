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
        pass_threshold as candidate_threshold,
        n_expected as n_candidate_expected
    from main.runs
)
select
    *,
    base_threshold is not null and candidate_threshold is not null as is_settled,
    n_base_expected is not null and n_candidate_expected is not null as is_expected_known,
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
