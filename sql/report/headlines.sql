-- The headline row of each run, with what decides how it is worded.
-- grain: run_id
-- looks at: run
-- kind: table
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
