-- pass@1 as it is, of attempts without a mode or without any, of the best attempts, of another run.
-- grain: run_id, step_no
with metrics as (from main.run_metrics where pass_at_1 is not null),
-- Where runs ask different questions under one id, only those that ask the same are compared.
scored as (
    select
        benchmark, run_id, task_id,
        coalesce(contradicted.question, '') as question,
        n_passed / nullif(n_scored, 0) as rate
    from main.task_outcomes
    left join staging.run_tasks as contradicted using (run_id, task_id)
    semi join (from main.runs where pass_threshold is not null) using (run_id)
    where n_scored > 0
),
-- The other run of a benchmark that does best on the tasks both scored, and by how much.
reference_runs as (
    select
        scored.run_id,
        others.run_id as reference_run_id,
        count(*) as n_tasks,
        sorted_sum(others.rate) / count(*) as pass_at_1,
        difference(sorted_sum(others.rate), sorted_sum(scored.rate)) / count(*) as gain
    from scored
    inner join scored as others using (benchmark, task_id, question)
    where scored.run_id <> others.run_id
    group by scored.run_id, others.run_id
    qualify row_number() over (
        partition by scored.run_id order by pass_at_1 desc, count(*) desc, others.run_id
    ) = 1
),
-- Only failing attempts have modes: a task that passes has attempts without, and others gain
-- nothing. With one attempt per task there is no other to count in its stead.
modes as (
    select
        run_id, mode,
        row_number() over (partition by run_id order by n_rollouts desc, n_matched desc, mode)
            as place
    from main.failure_modes
    semi join (from metrics where k_max > 1) using (run_id)
    where mode <> 'UNEXPLAINED'
),
matching as (
    select run_id, task_id, mode, count(*) as n_matching
    from main.rollout_modes
    semi join (from staging.rollouts where is_scored) using (run_id, task_id, rollout_index)
    group by all
),
-- A task counts its attempts without the mode, or without any, only: of those that pass there are some.
gains as (
    select
        run_id,
        mode as name,
        sorted_sum(n_passed / nullif(n_scored - n_matching, 0) - n_passed / nullif(n_scored, 0)) as total
    from (
        from matching
        union all by name
        select
            run_id, task_id,
            '' as mode,
            n_scored - n_passed
                - coalesce(max(n_matching) filter (where mode = 'UNEXPLAINED'), 0) as n_matching
        from matching
        inner join main.task_outcomes using (run_id, task_id)
        group by run_id, task_id, n_scored, n_passed
    )
    inner join main.task_outcomes using (run_id, task_id)
    where n_passed > 0
    group by run_id, mode
),
ablated as (
    select run_id, 2 as part, place, mode as name from modes
    union all
    select distinct run_id, 3 as part, 1 as place, '' as name from modes
),
steps as (
    select
        run_id,
        1 as part,
        1 as place,
        'baseline' as step,
        pass_at_1,
        cast(0 as double) as gain,
        n_scored_tasks as n_tasks
    from metrics
    union all by name
    select
        run_id, part, place,
        'without ' || if(name = '', 'all', name) as step,
        nullif(name, '') as mode,
        coalesce(gains.total / nullif(n_scored_tasks, 0), 0) as gain,
        metrics.pass_at_1 + gain as pass_at_1,
        n_scored_tasks as n_tasks
    from ablated
    inner join metrics using (run_id)
    left join gains using (run_id, name)
    union all by name
    select
        run_id,
        4 as part,
        1 as place,
        'oracle' as step,
        pass_at_k as pass_at_1,
        retry_value as gain,
        n_scored_tasks as n_tasks
    from metrics
    union all by name
    select
        5 as part,
        1 as place,
        'reference run' as step,
        reference_runs.*
    from reference_runs
    semi join metrics using (run_id)
)
select
    run_id,
    row_number() over (partition by run_id order by part, place) as step_no,
    step, mode, reference_run_id, pass_at_1, gain, n_tasks
from steps
order by run_id, step_no
