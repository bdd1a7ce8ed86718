-- The rollouts to be contrasted, task by task, and the events with which each ends.
-- grain: task_no, record_id
-- kind: table
with
-- Of tasks that flipped, the passes of the run that passes them and the failures of the other; their
-- numbers lie below those of the tasks within one run.
flips as (
    select
        -flip_no as task_no,
        flip_no,
        record_id,
        run_id,
        task_id,
        rollout_index,
        is_pass,
        n_tool_calls as n_calls
    from staging.rollouts
    inner join (
        select
            flip_no,
            task_id,
            unnest([
                {run_id: passing_run, is_pass: true}, {run_id: failing_run, is_pass: false}
            ], recursive := true)
        from staging.flip_tasks
    ) using (run_id, task_id, is_pass)
    where is_scored and n_tool_calls is not null
    qualify row_number() over (partition by flip_no, is_pass order by rollout_index) <= 8
),
-- A rollout stands once in each task that it is contrasted in.
rollouts as (
    from staging.sometimes_rollouts
    union all by name
    from flips
),
-- What comes after the last call and its result.
ends as (
    select
        rollouts.*,
        outline,
        length(outline) as n_events,
        regexp_extract(outline, '([^cr]*)$', 1) as ending
    from rollouts
    inner join staging.records using (record_id)
)
select
    task_no,
    record_id,
    run_id,
    task_id,
    rollout_index,
    flip_no,
    max(n_calls) over (partition by task_no) > 0 as is_acting,
    is_pass,
    rollout_index = min(rollout_index) over (partition by task_no, is_pass) as is_first,
    n_calls,
    -- Its last words after all calls.
    case
        when contains(ending, 'm') then n_events - length(regexp_extract(ending, 'm([^m]*)$', 1))
    end as final_seq,
    -- With which it stopped: its first own event after its last call, else that call; its last
    -- words where it made none.
    case
        when n_calls = 0 then final_seq
        when regexp_matches(ending, '[^u]')
            then n_events - length(ending) + 1 + length(regexp_extract(ending, '^(u*)', 1))
        else n_events - length(regexp_extract(outline, 'c([^c]*)$', 1))
    end as stop_seq
from ends
-- A side of which nothing is recorded cannot be placed beside the other.
qualify bool_or(is_pass) over (partition by task_no) and bool_or(not is_pass) over (partition by task_no)
