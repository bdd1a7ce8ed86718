-- How often a run fails in each way, by the primary mode of each attempt that did not pass.
-- grain: run_id, mode
-- kind: table
with failures as (
    select
        run_id,
        count(*) as n_failures
    from main.rollout_modes as modes
    where is_primary
    group by all
),
-- One to look at: of the task it hits most, the first.
hits as (
    select
        modes.run_id,
        modes.mode,
        modes.task_id,
        modes.rollout_index,
        modes.evidence_seq,
        modes.snippet,
        recorded.rollout_id,
        count(*) over (partition by modes.run_id, modes.mode, modes.task_id) as n_in_task
    from main.rollout_modes as modes
    inner join main.rollouts as recorded using (run_id, task_id, rollout_index)
    where modes.is_primary
),
examples as (
    select
        *,
        row_number() over (
            partition by run_id, mode order by n_in_task desc, task_id, rollout_index
        ) as rank
    from hits
),
counted as (
    select
        run_id,
        mode,
        count(*) filter (where is_primary) as n_rollouts,
        count(distinct task_id) filter (where is_primary) as n_tasks,
        count(*) as n_matched
    from main.rollout_modes as modes
    group by all
)
select
    counted.run_id,
    counted.mode,
    coalesce(rules.title, 'no rule explains it') as title,
    coalesce(rules.cause, 'UNEXPLAINED') as default_cause,
    rules.intervention,
    coalesce(rules.severity, 0) as severity,
    counted.n_rollouts,
    counted.n_tasks,
    counted.n_matched,
    failures.n_failures,
    counted.n_rollouts / nullif(failures.n_failures, 0) as share_of_failures,
    examples.run_id || '/' || examples.rollout_id
        || coalesce('#' || examples.evidence_seq, '') as example,
    examples.snippet
from counted
inner join failures using (run_id)
left join raw.failure_rules as rules using (mode)
left join examples
    on examples.run_id = counted.run_id
    and examples.mode = counted.mode
    and examples.rank = 1
