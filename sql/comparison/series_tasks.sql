-- How each task that all runs of a series scored fared along it: learned, forgotten, its trend.
-- grain: series, task_id
-- kind: table
with benchmarks as (
    select
        series,
        min(benchmark) as benchmark
    from staging.series_runs
    group by all
)
select
    totals.series,
    benchmarks.benchmark,
    totals.task_id,
    totals.n_scored,
    totals.n_passed,
    totals.rates,
    totals.n_first_passed / nullif(totals.n_first, 0) as first_rate,
    totals.n_last_passed / nullif(totals.n_last, 0) as last_rate,
    trends.slope,
    trends.p_value,
    trends.q_value,
    totals.n_first_passed = 0 and 2 * totals.n_last_passed >= totals.n_last as is_learned,
    2 * totals.n_first_passed >= totals.n_first and totals.n_last_passed = 0 as is_forgotten,
    trends.expected_learned,
    trends.expected_forgotten
from staging.series_totals as totals
inner join benchmarks using (series)
inner join staging.series_trends as trends using (series, task_id)
