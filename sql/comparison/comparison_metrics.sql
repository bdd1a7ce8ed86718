-- What else changed from a base run to a candidate: pass@k, tokens, turns, time, coverage, failures.
-- grain: base, candidate, metric
-- kind: table
with runs as (
    select
        metrics.run_id,
        metrics.coverage,
        metrics.n_failed_attempts / nullif(metrics.n_expected, 0) as failed_attempt_rate,
        metrics.n_missing / nullif(metrics.n_expected, 0) as missing_rate,
        metrics.n_unscored / nullif(metrics.n_rollouts, 0) as unscored_rate,
        health.clean_rate
    from main.run_metrics as metrics
    left join main.run_health as health using (run_id)
),
whole as (
    select
        pairs.base,
        pairs.candidate,
        unnest([
            measure_of('coverage', bases.coverage, candidates.coverage),
            measure_of(
                'failed_attempt_rate', bases.failed_attempt_rate, candidates.failed_attempt_rate
            ),
            measure_of('missing_rate', bases.missing_rate, candidates.missing_rate),
            measure_of('unscored_rate', bases.unscored_rate, candidates.unscored_rate),
            measure_of('clean_rate', bases.clean_rate, candidates.clean_rate)
        ]) as measured
    from staging.run_pairs as pairs
    inner join runs as bases
        on bases.run_id = pairs.base
    inner join runs as candidates
        on candidates.run_id = pairs.candidate
)
select
    changes.base,
    changes.candidate,
    changes.metric,
    changes.k,
    changes.n_tasks,
    changes.base_value,
    changes.candidate_value,
    changes.delta,
    changes.se_new_tasks,
    intervals.ci_new_tasks_low,
    intervals.ci_new_tasks_high
from staging.measure_changes as changes
inner join staging.measure_intervals as intervals using (base, candidate, metric)
union all
select
    base,
    candidate,
    measured.metric,
    null as k,
    null as n_tasks,
    measured.base_value,
    measured.candidate_value,
    measured.candidate_value - measured.base_value as delta,
    null as se_new_tasks,
    null as ci_new_tasks_low,
    null as ci_new_tasks_high
from whole
