-- Tasks that flipped between two runs, and where a failure of one parts from a pass of the other.
-- grain: base, candidate, task_id
-- kind: table
with closest as (
    select
        *,
        run_id || '/' || task_id || ':' || rollout_index || coalesce('#' || seq, '') as failing,
        passing_run_id || '/' || task_id || ':' || passing_index
            || coalesce('#' || passing_seq, '') as passing
    from staging.contrast_pairs
    where flip_no is not null and is_closest
),
modes as (
    select * from main.rollout_modes where is_primary
),
rollouts as (
    select * from staging.contrast_rollouts where flip_no is not null
),
used as (
    select rollouts.flip_no, rollouts.record_id, rollouts.is_pass, calls.tool
    from staging.calls
    inner join rollouts using (record_id)
    where calls.tool <> ''
    group by all
),
sides as (
    select
        flip_no,
        is_pass,
        count(*) as n_rollouts
    from rollouts
    group by flip_no, is_pass
),
-- What one side alone calls.
told as (
    select
        flip_no,
        tool,
        min(is_pass) as is_pass,
        count(*) as n_rollouts
    from used
    group by flip_no, tool
    having min(is_pass) = max(is_pass)
),
-- Of a task that flipped, the tools that all its passes call and no failure does, and the reverse.
flip_tools as (
    select
        told.flip_no,
        told.is_pass as is_of_passes,
        first_by(left(told.tool, 100), told.tool, 20) as tools
    from told
    inner join sides using (flip_no, is_pass, n_rollouts)
    group by told.flip_no, told.is_pass
)
select
    tasks.base,
    tasks.candidate,
    tasks.task_id,
    tasks.side,
    tasks.base_pass_rate,
    tasks.candidate_pass_rate,
    tasks.change,
    closest.failing,
    closest.passing,
    closest.difference,
    closest.n_common,
    closest.n_common_first,
    closest.failing_event,
    closest.failing_chars,
    closest.passing_event,
    closest.passing_chars,
    closest.tools_only_failing,
    closest.tools_only_passing,
    coalesce(of_passes.tools, no_texts()) as tools_of_passes,
    coalesce(of_failures.tools, no_texts()) as tools_of_failures,
    modes.mode as failing_mode,
    tasks.n_flips
from staging.flip_tasks as tasks
inner join closest using (flip_no)
left join flip_tools as of_passes
    on of_passes.flip_no = tasks.flip_no
    and of_passes.is_of_passes
left join flip_tools as of_failures
    on of_failures.flip_no = tasks.flip_no
    and not of_failures.is_of_passes
left join modes
    on modes.run_id = closest.run_id
    and modes.task_id = closest.task_id
    and modes.rollout_index = closest.rollout_index
