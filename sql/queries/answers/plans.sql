-- runs: what a plan needs of each run
select
    run_id,
    k,
    pass_at_1,
    tokens_per_rollout
from run_metrics
order by benchmark, run_id;

-- pair: scored and passed repeats of the tasks of two runs; different questions under one id are
-- different tasks
select
    bases.n_scored,
    bases.n_passed,
    candidates.n_scored,
    candidates.n_passed
from task_outcomes as bases
inner join task_outcomes as candidates using (benchmark, task_id)
inner join staging.run_tasks as base_tasks
    on base_tasks.run_id = bases.run_id and base_tasks.task_id = bases.task_id
inner join staging.run_tasks as candidate_tasks
    on candidate_tasks.run_id = candidates.run_id and candidate_tasks.task_id = candidates.task_id
where
    bases.run_id = ? and candidates.run_id = ?
    and bases.n_scored > 0 and candidates.n_scored > 0
    and base_tasks.question is not distinct from candidate_tasks.question
order by task_id;

-- run: scored and passed repeats of the tasks of a run
select
    n_scored,
    n_passed
from task_outcomes
where run_id = ? and n_scored > 0
order by task_id;

-- curve: pass@k and its cost for each k
select
    k,
    pass_at,
    tokens_at,
    seconds_at
from pass_curve
where run_id = ?
order by k;
