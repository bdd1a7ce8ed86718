-- How each task that all runs of a series scored fared along it: learned, forgotten, its trend.
-- grain: series, task_id
-- needs: staging.series_runs
select
    series, benchmark, task_id, n_scored, n_passed, rates,
    n_first_passed / nullif(n_first, 0) as first_rate,
    n_last_passed / nullif(n_last, 0) as last_rate,
    slope, p_value, q_value,
    n_first_passed = 0 and 2 * n_last_passed >= n_last as is_learned,
    2 * n_first_passed >= n_first and n_last_passed = 0 as is_forgotten,
    expected_learned, expected_forgotten
from staging.series_trends order by series, task_id
