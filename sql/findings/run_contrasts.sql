-- Signs that clearly more failures of one run bear than of the others, at tasks that both fail.
-- Tested with the runs shuffled within tasks.
-- computed by: pipeline.analysis.sign_contrasts.run_contrasts
-- grain: benchmark, run_id, kind, name, value
-- kind: table
from staging.sign_rows
semi join (select benchmark from staging.run_benchmarks group by all having count(*) > 1) as several using (benchmark)
order by benchmark, attempt_no, kind, name, value
