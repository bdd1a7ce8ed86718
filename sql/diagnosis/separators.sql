-- What passes do that failures of the same tasks do not: each feature with its test.
-- grain: run_id, feature
-- kind: table
select
    sums.run_id,
    sums.feature,
    sums.kind,
    sums.n_tasks,
    sums.n_informative,
    sums.n_with_passed,
    sums.n_passed,
    sums.n_with_failed,
    sums.n_failed,
    case when sums.kind = 'binary' then sums.n_with_passed / nullif(sums.n_passed, 0) end
        as rate_when_passed,
    case when sums.kind = 'binary' then sums.n_with_failed / nullif(sums.n_failed, 0) end
        as rate_when_failed,
    separations.odds_ratio,
    separations.odds_ratio_low,
    separations.odds_ratio_high,
    separations.is_unbounded,
    sums.mean_when_passed,
    sums.mean_when_failed,
    sums.mean_difference,
    separations.difference_low,
    separations.difference_high,
    separations.p_value,
    separations.q_value,
    separations.direction,
    separations.q_value <= 0.05 as is_separating
from staging.behaviour_sums as sums
inner join staging.separations using (run_id, feature)
