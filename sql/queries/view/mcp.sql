-- agent_runs: the runs with their headline figures, for agents
select
    run_id,
    runs.benchmark,
    runs.model,
    checkpoint,
    agent,
    expected_source,
    metrics.n_tasks,
    n_always_tasks,
    n_sometimes_tasks,
    n_never_tasks,
    n_missing_tasks,
    metrics.n_expected,
    metrics.n_rollouts,
    metrics.n_scored,
    n_passed,
    n_failed,
    n_missing,
    pass_at_1,
    pass_at_1_ci_new_tasks_low,
    pass_at_1_ci_new_tasks_high,
    k,
    pass_at_k,
    pass_hat_k,
    mean_reward,
    is_graded,
    coverage,
    consistency,
    count(*) over () as n_runs
from runs
left join run_metrics as metrics using (run_id)
order by runs.benchmark, run_id
limit $limit offset $offset;

-- scores: the score of each run with its interval; $run is a run, or null for all
select
    run_id,
    benchmark,
    pass_at_1,
    pass_at_1_ci_new_tasks_low as ci_low,
    pass_at_1_ci_new_tasks_high as ci_high,
    mean_reward,
    n_passed,
    n_scored,
    n_missing
from run_metrics
where $run is null or run_id = $run
order by benchmark, run_id;

-- findings: what matters most over the runs of each benchmark
select
    findings.* exclude (finding_no)
from findings
where $run is null or benchmark = (select benchmark from runs where run_id = $run)
order by benchmark, finding_no;

-- modes: what failures share, beside the passes that have it too
select
    benchmark,
    mode,
    n_failures,
    n_failures_observed,
    n_passes,
    n_passes_observed,
    n_tasks,
    look_at,
    citations[1] as open
from failure_modes
where
    run_id is not distinct from $run
    and n_failures > 0
    and parent is null
    and (is_told or reason = 'none')
order by benchmark, rank nulls last, mode;

-- read: what labels of rollouts say of all failures
select
    benchmark,
    kind,
    value,
    n_with,
    n_read,
    n_failures,
    share,
    ci_low,
    ci_high,
    said_by,
    n_by_stratum,
    n_read_by_stratum
from read_shares
where run_id is not distinct from $run
order by benchmark, kind desc, share desc nulls last, value;
