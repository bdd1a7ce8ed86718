-- The grid of what should exist and what does: every expected or recorded rollout, and its end.
-- grain: run_id, task_id, rollout_index
-- kind: table
with expected as (
    select run_id, task_id, rollout_index
    from main.expected
    where source <> 'inferred'
),
grid as (
    select
        run_id,
        task_id,
        rollout_index,
        expected.run_id is not null as is_expected,
        rollouts.run_id is not null as is_recorded,
        rollouts.reward,
        coalesce(rollouts.is_scored, false) as is_scored,
        rollouts.is_pass
    from expected
    full join main.rollouts using (run_id, task_id, rollout_index)
)
select
    grid.run_id,
    grid.task_id,
    grid.rollout_index,
    grid.is_expected,
    grid.is_recorded,
    grid.is_scored,
    grid.is_pass,
    grid.reward,
    case
        when grid.is_scored then 'scored'
        when grid.is_recorded then 'unscored'
        when failed_attempts.run_id is not null then 'failed attempt'
        else 'missing'
    end as outcome,
    -- Killed, or failed by the machinery: says nothing of the model.
    not grid.is_scored
        and coalesce(failed_attempts.is_infrastructure, not grid.is_recorded) as is_infrastructure
from grid
left join staging.failed_attempts using (run_id, task_id, rollout_index)
