-- Tasks that flipped between two runs, and where a failure of one diverges from a pass of the other.
-- grain: base, candidate, task_id
-- looks at: across
-- needs: staging.run_pairs
with rollouts as (from staging.contrast_rollouts where flip_no is not null),
sizes as (
    select
        flip_no,
        is_pass,
        count(*) as n_rollouts
    from rollouts
    group by all
),
-- What one side alone calls.
called as (
    select
        rollouts.flip_no,
        calls.tool,
        min(rollouts.is_pass) as is_pass,
        count(distinct rollouts.record_id) as n_rollouts
    from staging.calls
    inner join rollouts using (record_id)
    where calls.tool <> ''
    group by all
    having min(rollouts.is_pass) = max(rollouts.is_pass)
),
-- Of a task that flipped, the tools that all its passes call and no failure does, and the reverse.
tools as (
    select
        flip_no,
        min_by(left(tool, 100), tool, 20) filter (where is_pass) as of_passes,
        min_by(left(tool, 100), tool, 20) filter (where not is_pass) as of_failures
    from called
    semi join sizes using (flip_no, is_pass, n_rollouts)
    group by all
)
select
    tasks.base,
    tasks.candidate,
    tasks.task_id,
    tasks.side,
    tasks.base_pass_rate,
    tasks.candidate_pass_rate,
    tasks.change,
    contrasts.run_id || '/' || contrasts.task_id || ':' || contrasts.rollout_index
        || coalesce('#' || contrasts.seq, '') as failing,
    contrasts.passing_run_id || '/' || contrasts.task_id || ':' || contrasts.passing_index
        || coalesce('#' || contrasts.passing_seq, '') as passing,
    contrasts.difference,
    contrasts.n_common,
    contrasts.n_common_first,
    contrasts.failing_event,
    contrasts.failing_chars,
    contrasts.passing_event,
    contrasts.passing_chars,
    contrasts.tools_only_failing,
    contrasts.tools_only_passing,
    coalesce(tools.of_passes, []) as tools_of_passes,
    coalesce(tools.of_failures, []) as tools_of_failures,
    modes.mode as failing_mode,
    tasks.n_flips
from staging.flip_tasks as tasks
inner join staging.contrast_pairs as contrasts
    on contrasts.flip_no = tasks.flip_no
    and contrasts.is_closest
left join tools on tools.flip_no = tasks.flip_no
left join main.rollout_modes as modes
    on modes.run_id = contrasts.run_id
    and modes.task_id = contrasts.task_id
    and modes.rollout_index = contrasts.rollout_index
    and modes.is_primary
order by base, candidate, task_id
