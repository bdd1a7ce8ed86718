-- The rollouts to be contrasted, task by task, and the events with which each ends.
-- grain: task_no, record_id
-- looks at: task
-- kind: table
-- needs: staging.sometimes_rollouts | staging.flip_tasks
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
-- A rollout is listed once in each task that it is contrasted in.
rollouts as (
    from staging.sometimes_rollouts
    union all by name
    from flips
),
-- A side of which nothing is recorded cannot be placed beside the other.
tasks as (
    select
        task_no,
        max(n_calls) > 0 as is_acting,
        min(rollout_index) filter (where is_pass) as first_pass,
        min(rollout_index) filter (where not is_pass) as first_failure
    from rollouts
    group by all
    having count(distinct is_pass) = 2
),
-- Most rollouts share an outline with many others: each is read once.
ends as (
    select
        outline,
        length(outline) as n_events,
        -- What comes after the last call and its result.
        regexp_extract(outline, '([^cr]*)$', 1) as ending,
        -- Its last words after all calls.
        case
            when contains(ending, 'm') then n_events - length(regexp_extract(ending, 'm([^m]*)$', 1))
        end as final_seq,
        -- With which it stopped: its first own event after its last call, else that call; its last
        -- words where it made none.
        case
            when not contains(outline, 'c') then final_seq
            when regexp_matches(ending, '[^u]')
                then n_events - length(ending) + 1 + length(regexp_extract(ending, '^(u*)', 1))
            else n_events - length(regexp_extract(outline, 'c([^c]*)$', 1))
        end as stop_seq
    from (select distinct outline from staging.records)
)
select
    task_no,
    record_id,
    run_id,
    task_id,
    rollout_index,
    flip_no,
    is_acting,
    is_pass,
    rollout_index = if(is_pass, first_pass, first_failure) as is_first,
    n_calls,
    stop_seq,
    final_seq
from rollouts
inner join tasks using (task_no)
inner join (select record_id, outline from staging.records) as outlined using (record_id)
inner join ends on ends.outline is not distinct from outlined.outline
