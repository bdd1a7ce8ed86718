-- What pass@1 would gain, at least and at most, if a failure mode were gone.
-- grain: run_id, mode
-- kind: table
select
    run_id,
    name as mode,
    n_rollouts,
    n_tasks,
    gain_low,
    gain_high
from staging.brackets
where scope = 'mode'
