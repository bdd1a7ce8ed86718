-- What passes do that failures of the same tasks do not: each feature with its test.
-- grain: run_id, feature
-- needs: staging.separations
select
    run_id, feature,
    kind,
    n_tasks,
    n_informative,
    n_with_passed,
    n_passed,
    n_with_failed,
    n_failed,
    case when kind = 'binary' then n_with_passed / nullif(n_passed, 0) end as rate_when_passed,
    case when kind = 'binary' then n_with_failed / nullif(n_failed, 0) end as rate_when_failed,
    odds_ratio,
    odds_ratio_low,
    odds_ratio_high,
    is_unbounded,
    mean_when_passed,
    mean_when_failed,
    mean_difference,
    difference_low,
    difference_high,
    p_value,
    q_value,
    direction,
    q_value <= 0.05 as is_separating
from staging.separations
order by run_id, feature
