-- The scored rollouts of tasks that a run sometimes passes, and the events with which each ends.
-- grain: run_id, task_id, rollout_index
-- kind: table
with

rollouts as (

    select * from main.rollouts where is_scored

),

tasks as (

    select
        rollouts.run_id,
        rollouts.task_id,
        -- A number for the task within its run.
        min(rollouts.record_id) as task_no,
        min(case when not rollouts.is_pass then rollouts.rollout_index end) as first_failing_index,
        min(case when rollouts.is_pass then rollouts.rollout_index end) as first_passing_index,
        coalesce(max(rollouts.n_tool_calls), 0) > 0 as is_acting

    from rollouts

    inner join main.task_outcomes as outcomes using (run_id, task_id)

    where outcomes.bucket = 'sometimes'

    group by rollouts.run_id, rollouts.task_id

),

-- What comes after the last call and its result.
ends as (

    select
        record_id,
        length(outline) as n_events,
        regexp_extract(outline, '([^cr]*)$', 1) as ending

    from staging.records

    where role = 'rollout'

),

final as (

    select
        rollouts.run_id,
        rollouts.task_id,
        rollouts.rollout_index,
        rollouts.record_id,
        tasks.task_no,
        tasks.is_acting,
        rollouts.is_pass,
        case
            when rollouts.is_pass then rollouts.rollout_index = tasks.first_passing_index
            else rollouts.rollout_index = tasks.first_failing_index
        end as is_first,
        coalesce(rollouts.n_tool_calls, 0) as n_calls,
        -- With which it stopped: its first own event after its last call, its first message where
        -- it made none; its last event where there is no such one.
        nullif(
            ends.n_events - length(ends.ending) + least(
                length(ends.ending),
                1 + case
                    when length(ends.ending) = ends.n_events
                        then length(regexp_extract(ends.ending, '^([^m]*)', 1))
                    else length(regexp_extract(ends.ending, '^(u*)', 1))
                end
            ),
            0
        ) as stop_seq,
        -- Its last words; its last event where it said none.
        nullif(ends.n_events - length(regexp_extract(ends.ending, 'm([^m]*)$', 1)), 0) as final_seq

    from rollouts

    inner join tasks using (run_id, task_id)

    inner join ends using (record_id)

)

select * from final
