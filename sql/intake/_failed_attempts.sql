-- The last failed attempt at each rollout, and whether what failed was the infrastructure.
-- grain: run_id, task_id, rollout_index
with ranked as (
    select
        run_id,
        task_id,
        rollout_index,
        failure_class,
        message,
        -- Not by the order of the file, which says nothing where attempts are not numbered.
        row_number() over (
            partition by run_id, task_id, rollout_index
            order by attempt_index desc nulls last, is_terminal desc nulls last, failure_class, message
        ) as rank
    from main.failures
)
select
    run_id,
    task_id,
    rollout_index,
    failure_class,
    message,
    coalesce(failure_class in ('transient', 'remote_agent_error', 'judge_failed'), false)
        as is_infrastructure
from ranked
where rank = 1
