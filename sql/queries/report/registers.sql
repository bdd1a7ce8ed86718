-- What the registers of a benchmark are made of; $1 is the benchmark.

-- models: each run by its model, by its own name where two have one model
select if(count(*) over (partition by model) = 1, coalesce(model, run_id), run_id) as name
from main.runs
where benchmark = $1
order by run_id;

-- failing: each task of a run that some scored attempt fails, with a failure to open
with modes as (
    select
        run_id,
        task_id,
        mode,
        count(*) as n_with_mode,
        arg_min(
            struct_pack(rollout_index := rollout_index, seq := modes.evidence_seq),
            struct_pack(reward := -rollouts.reward, rollout_index := rollout_index)
        ) as opened
    from main.rollout_modes as modes
    inner join main.rollouts using (run_id, task_id, rollout_index)
    where modes.is_primary and rollouts.is_scored
    group by run_id, task_id, mode
    qualify row_number() over (
        partition by run_id, task_id order by mode = 'no shared sign', count(*) desc, mode
    ) = 1
)
select
    task_id,
    tasks.slices['category'] as category,
    matrix.bucket_across = 'never' as is_shared_never_pass,
    run_id,
    outcomes.bucket,
    outcomes.n_passed,
    outcomes.n_scored,
    modes.mode,
    modes.n_with_mode,
    causes.cause,
    modes.opened.rollout_index as rollout_index,
    modes.opened.seq as seq
from main.task_outcomes as outcomes
inner join main.bucket_matrix as matrix using (benchmark, task_id)
inner join modes using (run_id, task_id)
left join main.tasks using (benchmark, task_id)
left join main.root_causes as causes using (run_id, task_id)
where benchmark = $1 and outcomes.bucket in ('never', 'sometimes')
order by try_cast(task_id as bigint), task_id, run_id;

-- checks: how many scored attempts at such a task fail each of its checks
select
    run_id,
    task_id,
    source,
    check_name as name,
    count(*) filter (where not is_passed) as n_failed,
    count(*) as n_checked
from main.checks
inner join main.rollouts using (run_id, task_id, rollout_index)
inner join main.runs using (run_id)
where runs.benchmark = $1 and rollouts.is_scored and is_passed is not null
group by all
having n_failed > 0
order by run_id, task_id, n_failed desc, source, name;

-- notes: what the record says of some failing attempts; $2, $3 and $4 list their runs, tasks and repeats
select
    run_id,
    task_id,
    note
from main.failure_notes
semi join (
    select unnest($2) as run_id, unnest($3) as task_id, unnest($4) as rollout_index
) using (run_id, task_id, rollout_index)
where benchmark = $1
order by run_id, task_id, note_no;

-- tests: the comparisons by the metric to read first, p corrected over all of them
with named as (
    select
        run_id,
        if(count(*) over (partition by benchmark, model) = 1, coalesce(model, run_id), run_id) as name
    from main.runs
),
tests as (
    select
        metric,
        'all tasks' as slice,
        candidates.name as model_a,
        bases.name as model_b,
        n_common_tasks as matched_cells,
        delta as mean_difference,
        if(ci_new_tasks_low is null, null, [ci_new_tasks_low, ci_new_tasks_high]) as ci_95,
        p_mean as p_raw,
        least(1, p_raw * count(p_raw) over () / rank() over (order by p_raw)) as scaled
    from main.comparisons
    inner join named as bases on bases.run_id = base
    inner join named as candidates on candidates.run_id = candidate
    where is_lead and benchmark = $1 and n_common_tasks > 1
)
select
    * exclude (scaled),
    if(p_raw is null, null, min(scaled) over (
        order by p_raw desc range between unbounded preceding and current row
    )) as p_adjusted,
    coalesce(p_adjusted < 0.05, false) as significant
from tests
order by model_a, model_b, metric;
