-- The runs of each series of checkpoints, in order, with what the series learned and forgot.
-- grain: series, place_no
-- needs: staging.series_runs
select
    series.series,
    series.place as place_no,
    series.run_id,
    series.n_tasks,
    series.pass_at_1,
    series.mean_reward,
    series.common_pass_at_1,
    series.change,
    counts.n_runs,
    counts.n_common_tasks,
    counts.n_learned,
    counts.expected_learned,
    counts.n_forgotten,
    counts.expected_forgotten,
    counts.n_rising,
    counts.n_falling
from main.series
inner join main.series_counts as counts using (series)
order by series.benchmark, series.series, series.place
