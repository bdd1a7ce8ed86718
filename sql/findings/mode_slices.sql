-- Where the failures of a mode concentrate: one value of a slice that holds most of them.
-- grain: benchmark, mode, slice_key, slice_value
-- looks at: run
-- kind: table
-- needs: staging.attempt_modes | staging.rollouts where not is_pass
-- computed by: pipeline.analysis.concentration.concentrations
-- columns: *, p_value, p_adjusted
with bearing as (
    select
        benchmark,
        mode,
        run_id,
        task_id,
        rollout_index
    from staging.attempt_modes
    where is_failure and rank is not null
    union all
    -- And all failures together.
    select
        benchmark,
        'any failure' as mode,
        run_id,
        task_id,
        rollout_index
    from staging.rollouts
    inner join staging.run_benchmarks using (run_id)
    where not is_pass
),
attempts as (
    select
        benchmark,
        task_id
    from staging.attempts
    inner join staging.run_benchmarks using (run_id)
),
sizes as (
    select
        benchmark,
        name as slice_key,
        value as slice_value,
        count(*) as n_attempts
    from attempts
    inner join staging.task_slices using (benchmark, task_id)
    group by all
),
totals as (
    select
        benchmark,
        count(*) as n_all_attempts
    from attempts
    group by all
),
modes as (
    select
        benchmark,
        mode,
        count(*) as n_mode_failures
    from bearing
    group by all
)
select
    benchmark,
    mode,
    slices.name as slice_key,
    value as slice_value,
    count(*) as n_failures,
    count(distinct task_id) as n_tasks,
    n_mode_failures,
    n_attempts,
    n_all_attempts,
    count(*) / n_mode_failures as share,
    (count(*) / n_mode_failures) / (n_attempts / n_all_attempts) as lift
from bearing
inner join staging.task_slices as slices using (benchmark, task_id)
inner join modes using (benchmark, mode)
inner join sizes
    on sizes.benchmark = bearing.benchmark
    and sizes.slice_key = slices.name
    and sizes.slice_value = slices.value
inner join totals using (benchmark)
-- A mode that is a value of the slice itself is in it by definition, as is every failure in a slice of verdicts.
anti join (
    select
        benchmark,
        slice_key as name
    from main.slice_metrics
    inner join staging.run_benchmarks using (run_id)
    where is_verdict
) as verdicts on verdicts.benchmark = bearing.benchmark and verdicts.name = slices.name
where not starts_with(mode, slices.name || ' ')
group by benchmark, mode, slices.name, value, n_mode_failures, n_attempts, n_all_attempts
order by benchmark, mode, slice_key, slice_value
