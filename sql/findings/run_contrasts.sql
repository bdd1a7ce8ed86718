-- Signs that clearly more failures of one run bear than of the others, at tasks that both fail.
-- Tested with the runs shuffled within tasks.
-- grain: benchmark, run_id, kind, name, value
-- looks at: run
-- kind: table
-- needs: (from staging.run_benchmarks offset 1)
-- computed by: pipeline.analysis.sign_contrasts.run_contrasts
-- columns: benchmark, run_id, kind, name, value, sign, n_failures, n_failures_observed, n_other_failures, n_other_failures_observed, n_tasks, p_adjusted
from staging.sign_rows
semi join (select benchmark from staging.run_benchmarks group by all having count(*) > 1) as several using (benchmark)
order by benchmark, attempt_no
