-- runs: the score of each run with its interval
select
    run_id,
    benchmark,
    model,
    n_tasks,
    n_scored,
    n_expected,
    pass_at_1,
    pass_at_1_ci_new_tasks_low as ci_low,
    pass_at_1_ci_new_tasks_high as ci_high,
    pass_at_k,
    k,
    mean_reward
from run_metrics
order by benchmark, run_id;

-- failures: the failure modes over all runs of each benchmark ($1 is null), or of one run
select
    benchmark,
    mode,
    n_failures,
    n_failures_observed as of_failures,
    n_passes,
    n_passes_observed as of_passes,
    n_tasks,
    reason,
    p_adjusted,
    look_at,
    failing_citations,
    passing_citation
from failure_modes
where
    run_id is not distinct from $1
    and n_failures > 0
    and parent is null
    and (is_told or reason = 'none')
order by benchmark, rank nulls last, n_failures desc, mode;

-- findings: the findings of each summary, in order
select
    benchmark,
    finding_no,
    kind,
    mode,
    run_id,
    n_failures,
    n_failures_observed as of_failures,
    n_passes,
    n_passes_observed as of_passes,
    n_tasks,
    top_tasks,
    citation
from findings
order by benchmark, finding_no;

-- health: whether the record of each run can be trusted
select
    run_id,
    n_rollouts,
    n_healthy,
    n_unhealthy,
    n_unobserved,
    clean_rate,
    coverage,
    n_rejects
from run_health
order by run_id;
