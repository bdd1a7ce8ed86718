-- How each task that all runs of a series scored fared along it: learned, forgotten, its trend.
-- grain: series, task_id
-- looks at: across
-- kind: table
-- needs: staging.series_runs
-- computed by: pipeline.analysis.trends.trends from totals
-- columns: *, slope, p_value, q_value, expected_learned, expected_forgotten
with
-- The trend of every task along a series, and what noise alone would make of its ends.
totals as (
    select
        series,
        benchmark,
        task_id,
        list(pass_rate order by place) as rates,
        list(n_scored order by place) as n_scored,
        list(n_passed order by place) as n_passed,
        max(outcomes.n_scored) filter (where is_first) as n_first,
        max(outcomes.n_passed) filter (where is_first) as n_first_passed,
        max(outcomes.n_scored) filter (where is_last) as n_last,
        max(outcomes.n_passed) filter (where is_last) as n_last_passed,
        cast(sum(outcomes.n_scored) as bigint) as n_all,
        cast(sum(outcomes.n_passed) as bigint) as n_all_passed,
        cast(sum(outcomes.n_scored * place) as bigint) as sum_places,
        cast(sum(outcomes.n_scored * place * place) as bigint) as sum_square_places,
        cast(sum(outcomes.n_passed * place) as bigint) as sum_passed_places
    from staging.series_outcomes as outcomes
    where is_common and outcomes.n_passed is not null
    group by all
    order by series, task_id
)
select
    series,
    benchmark,
    task_id,
    n_scored,
    n_passed,
    rates,
    n_first_passed / nullif(n_first, 0) as first_rate,
    n_last_passed / nullif(n_last, 0) as last_rate,
    slope,
    p_value,
    q_value,
    n_first_passed = 0 and 2 * n_last_passed >= n_last as is_learned,
    2 * n_first_passed >= n_first and n_last_passed = 0 as is_forgotten,
    expected_learned,
    expected_forgotten
from temp.trends
