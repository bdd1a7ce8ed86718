-- The headline row of each run, with what decides how it is worded.
-- grain: run_id
-- looks at: run
-- kind: table
with tasks as (
    select
        run_id,
        count(*) as n_tasks
    from main.task_outcomes
    group by all
),
-- The run with most tasks of each benchmark: other runs may have been given its tasks.
largest as (
    select
        metrics.benchmark,
        metrics.run_id
    from main.run_metrics as metrics
    inner join tasks using (run_id)
    inner join staging.run_order using (run_id)
    qualify row_number() over (
        partition by metrics.benchmark
        order by metrics.n_scored_tasks desc, tasks.n_tasks desc, run_order.place
    ) = 1
),
-- Which runs have nine in ten of their tasks and of its tasks in common with it.
alike as (
    select run_id
    from (
        select
            metrics.run_id,
            count(*) as n_common,
            any_value(greatest(own.n_tasks, theirs.n_tasks)) as n_most
        from main.run_metrics as metrics
        inner join largest using (benchmark)
        inner join main.task_outcomes as outcomes on outcomes.run_id = metrics.run_id
        inner join main.task_outcomes as others
            on others.run_id = largest.run_id
            and others.task_id = outcomes.task_id
        inner join tasks as own on own.run_id = metrics.run_id
        inner join tasks as theirs on theirs.run_id = largest.run_id
        group by all
    )
    where 10 * n_common >= 9 * n_most
)
select
    metrics.*,
    run_order.place,
    metrics.n_scored = 0 as is_unscored,
    metrics.n_scored > 0 and metrics.k_max = 1 as is_single_repeat,
    metrics.k_min < metrics.k_max as is_ragged,
    metrics.n_scored > 0 and metrics.pass_threshold is null as is_unsettled,
    -- Tasks with more attempts than others weigh no more: as printed, it is not the share of attempts.
    coalesce(round(metrics.pass_at_1, 3) <> round(metrics.rollout_pass_rate, 3), false) as is_mean_over_tasks,
    metrics.n_expected is null as is_expected_unknown,
    metrics.n_inferred_missing_tasks > 0 as has_inferred,
    metrics.n_scored < metrics.n_rollouts
        or coalesce(metrics.coverage < 1, false)
        as is_incomplete,
    metrics.run_id not in (from alike) as is_of_other_tasks,
    -- Tasks that do not always pass, and those of them that a person has given a cause.
    (
        select count(*)
        from main.task_outcomes as tasks
        where tasks.run_id = metrics.run_id and tasks.bucket in ('sometimes', 'never', 'missing')
    ) as n_to_label,
    (
        select count(*)
        from main.root_causes as causes
        where causes.run_id = metrics.run_id and causes.source = 'label'
    ) as n_labelled
from main.run_metrics as metrics
inner join staging.run_order using (run_id)
order by metrics.benchmark, run_order.place
