-- The rollouts to be contrasted, task by task, and the events with which each ends.
-- grain: task_no, record_id
-- kind: table
with

-- Of one run, and of two: a rollout stands once in each task that it is contrasted in.
rollouts as (

    select * from staging.sometimes_rollouts

    union all

    select * from staging.flip_rollouts

),

tasks as (

    select
        task_no,
        min(case when not is_pass then rollout_index end) as first_failing_index,
        min(case when is_pass then rollout_index end) as first_passing_index,
        max(n_calls) > 0 as is_acting

    from rollouts

    group by task_no

),

outlined as (

    select
        rollouts.*,
        records.outline

    from rollouts

    inner join staging.records as records using (record_id)

    where records.role = 'rollout'

),

-- What comes after the last call and its result.
ends as (

    select
        *,
        length(outline) as n_events,
        regexp_extract(outline, '([^cr]*)$', 1) as ending

    from outlined

),

final as (

    select
        ends.task_no,
        ends.record_id,
        ends.run_id,
        ends.task_id,
        ends.rollout_index,
        ends.flip_no,
        tasks.is_acting,
        ends.is_pass,
        case
            when ends.is_pass then ends.rollout_index = tasks.first_passing_index
            else ends.rollout_index = tasks.first_failing_index
        end as is_first,
        ends.n_calls,
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

    from ends

    inner join tasks using (task_no)

)

select * from final
