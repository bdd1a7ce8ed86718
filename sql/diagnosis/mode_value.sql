-- What pass@1 would gain, at least and at most, if a failure mode were gone.
-- grain: run_id, mode
-- needs: main.rollout_modes
select
    run_id,
    name as mode,
    n_rollouts,
    n_tasks,
    gain_low,
    gain_high
from staging.mode_gains
where scope = 'mode'
order by run_id, mode
