-- The rollouts to be contrasted, task by task, and the events with which each ends.
-- grain: task_no, record_id
-- kind: table
with sides as (
    select
        flip_no,
        task_id,
        passing_run as run_id,
        true as is_pass
    from staging.flip_tasks as tasks
    union all
    select
        flip_no,
        task_id,
        failing_run as run_id,
        false as is_pass
    from staging.flip_tasks as tasks
),
ranked as (
    select
        sides.flip_no,
        rollouts.record_id,
        rollouts.run_id,
        rollouts.task_id,
        rollouts.rollout_index,
        rollouts.is_pass,
        rollouts.n_tool_calls,
        row_number() over (
            partition by sides.flip_no, sides.is_pass order by rollouts.rollout_index
        ) as rank
    from sides
    inner join main.rollouts
        on rollouts.run_id = sides.run_id
        and rollouts.task_id = sides.task_id
        and rollouts.is_pass = sides.is_pass
    where rollouts.is_scored
),
-- Of tasks that flipped, the passes of the run that passes them and the failures of the other.
flip_rollouts as (
    select
        -- Below the numbers of the tasks within one run.
        -flip_no as task_no,
        record_id,
        run_id,
        task_id,
        rollout_index,
        is_pass,
        coalesce(n_tool_calls, 0) as n_calls,
        flip_no
    from ranked
    where rank <= 8
),
-- Of one run, and of two: a rollout stands once in each task that it is contrasted in.
rollouts as (
    select * from staging.sometimes_rollouts
    union all
    select * from flip_rollouts
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
    inner join staging.records using (record_id)
    where records.role = 'rollout'
),
-- What comes after the last call and its result.
ends as (
    select
        *,
        length(outline) as n_events,
        regexp_extract(outline, '([^cr]*)$', 1) as ending
    from outlined
)
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
