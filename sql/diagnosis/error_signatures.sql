-- The same error as one row: its message without numbers, paths and ids, and whom it hits.
-- grain: run_id, source, signature
-- kind: table
with errors as (
    select
        errors.*,
        coalesce(not features.is_pass, not features.is_scored, true) as is_failed
    from staging.errors
    left join main.rollout_features as features using (run_id, task_id, rollout_index)
),
ranked as (
    select
        run_id,
        source,
        signature,
        message,
        citation as example,
        row_number() over (
            partition by run_id, source, signature order by task_id, rollout_index, place
        ) as rank
    from errors
),
hit as (
    select
        run_id,
        source,
        signature,
        task_id,
        count(*) as n_events,
        count(distinct rollout_index) as n_rollouts,
        count(distinct rollout_index) filter (where is_failed) as n_failed
    from errors
    group by all
),
counted as (
    select
        run_id,
        source,
        signature,
        sum(n_events) as n_events,
        sum(n_rollouts) as n_rollouts,
        sum(n_failed) as n_failed,
        count(*) as n_tasks,
        first_of(values_by(task_id, task_id), 20) as task_ids
    from hit
    group by all
)
select
    counted.run_id,
    counted.source,
    counted.signature,
    cast(counted.n_events as bigint) as n_events,
    cast(counted.n_rollouts as bigint) as n_rollouts,
    cast(counted.n_failed as bigint) as n_failed,
    counted.n_tasks,
    counted.task_ids,
    ranked.message,
    ranked.example
from counted
inner join ranked
    on ranked.run_id = counted.run_id
    and ranked.source = counted.source
    and ranked.signature = counted.signature
    and ranked.rank = 1
