-- Failed attempts of each run by class, the commonest first.
-- grain: run_id, failure_class
-- needs: main.failures
select
    run_id,
    coalesce(failure_class, 'not classed') as failure_class,
    count(*) as n_attempts,
    count(distinct task_id || ':' || rollout_index) as n_rollouts
from main.failures
group by all
order by run_id, n_attempts desc, failure_class
