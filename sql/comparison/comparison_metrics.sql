-- What else changed from a base run to a candidate: pass@k, tokens, turns, time, coverage, failures.
-- grain: base, candidate, metric
-- looks at: across
-- kind: table
-- needs: staging.run_pairs
with runs as (
    select
        metrics.run_id,
        [
            metrics.coverage,
            metrics.n_failed_attempts / nullif(metrics.n_expected, 0),
            metrics.n_missing / nullif(metrics.n_expected, 0),
            metrics.n_unscored / nullif(metrics.n_rollouts, 0),
            health.clean_rate
        ] as figures
    from main.run_metrics as metrics
    left join main.run_health as health using (run_id)
),
whole as (
    select
        pairs.base,
        pairs.candidate,
        unnest([
            'coverage', 'failed_attempt_rate', 'missing_rate', 'unscored_rate', 'clean_rate'
        ]) as metric,
        unnest(bases.figures) as base_value,
        unnest(candidates.figures) as candidate_value
    from staging.run_pairs as pairs
    inner join runs as bases on bases.run_id = pairs.base
    inner join runs as candidates on candidates.run_id = pairs.candidate
)
select
    base,
    candidate,
    metric,
    k,
    n_tasks,
    base_value,
    candidate_value,
    delta,
    se_new_tasks,
    ci_new_tasks_low,
    ci_new_tasks_high
from staging.measure_changes
union all by name
select
    *,
    candidate_value - base_value as delta
from whole
