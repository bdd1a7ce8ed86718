-- Failed attempts that say nothing of this run any more: overcome, or left from another one.
-- grain: run_id, task_id, rollout_index, attempt
select
    failures.run_id,
    failures.task_id,
    failures.rollout_index,
    failures.attempt,
    failures.source_file || ':' || failures.source_line as subject,
    failures.failure_class,
    coalesce(attempts.is_scored, false) as is_overcome
from main.failures
inner join main.runs using (run_id)
left join staging.attempts using (run_id, task_id, rollout_index)
-- Where nothing says what was expected, a failure without a rollout may be of this run.
where attempts.is_scored or (attempts.run_id is null and runs.n_expected is not null)
