-- The grid of what should exist and what does: every expected or recorded rollout, and its end.
-- grain: run_id, task_id, rollout_index
-- looks at: task
-- kind: table
with grid as (
    select
        run_id,
        task_id,
        rollout_index,
        expected.run_id is not null as is_expected,
        rollouts.run_id is not null as is_recorded,
        coalesce(rollouts.is_scored, false) as is_scored,
        rollouts.is_pass,
        rollouts.reward,
        rollouts.record_id
    from (from main.expected where source <> 'inferred') as expected
    full join staging.rollouts using (run_id, task_id, rollout_index)
),
-- The last failed attempt at each; not by the order of the file, which says nothing where attempts
-- are not numbered.
failed as (
    select
        run_id,
        task_id,
        rollout_index,
        failure_class,
        message
    from main.failures
    qualify row_number() over (
        partition by run_id, task_id, rollout_index
        order by attempt_index desc nulls last, is_terminal desc nulls last, failure_class, message
    ) = 1
)
select
    grid.*,
    case
        when grid.is_scored then 'scored'
        when grid.is_recorded then 'unscored'
        when failed.run_id is not null then 'failed attempt'
        else 'missing'
    end as outcome,
    -- Killed, or failed by the machinery: says nothing of the model.
    not grid.is_scored and case
        when failed.run_id is null then not grid.is_recorded
        else coalesce(
            failed.failure_class in ('transient', 'remote_agent_error', 'judge_failed'), false
        )
    end as is_infrastructure,
    failed.failure_class,
    failed.message as failure_message,
    -- The run ended before it: a finding of the run, and no failure of an attempt.
    not grid.is_recorded
    and failed.run_id is null
    and grid.run_id in (select run_id from staging.run_settings where name = 'log_status') as is_never_run
from grid
left join failed using (run_id, task_id, rollout_index)
