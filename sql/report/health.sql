-- The health of each run.
-- grain: run_id
select
    health.*,
    metrics.benchmark
from main.run_health as health
inner join main.run_metrics as metrics using (run_id)
order by metrics.benchmark, health.run_id
