-- pass@1 as it is, of attempts without a mode or without any, of the best attempts, of another run.
-- grain: run_id, step_no
-- kind: table
with
-- Only failing attempts have modes: a task that passes has attempts without, and severity, which
-- would choose among attempts that all have the mode, has nothing to choose. Others gain nothing.
tallies as (
    select * from staging.mode_tallies where scope in ('mode', 'all') and n_passed > 0
),
sums as (
    select
        run_id,
        scope,
        name,
        sorted_sum(
            n_tasks * (n_passed / nullif(n_scored - n_matching, 0) - n_passed / nullif(n_scored, 0))
        ) as total
    from tallies
    group by all
),
-- What pass@1 gains when each task counts only its attempts without a mode, or without any.
ablation_gains as (
    select
        sums.run_id,
        sums.scope,
        sums.name,
        sums.total / nullif(metrics.n_scored_tasks, 0) as gain
    from sums
    inner join main.run_metrics as metrics using (run_id)
),
metrics as (
    select * from main.run_metrics where pass_at_1 is not null
),
-- With one attempt a task there is no other to count in its stead.
modes as (
    select modes.run_id, modes.mode, modes.place
    from staging.run_modes as modes
    inner join metrics using (run_id)
    where modes.mode <> 'UNEXPLAINED' and metrics.k_max > 1
),
benchmarks as (
    select benchmark
    from main.runs
    where pass_threshold is not null
    group by benchmark
    having count(*) > 1
),
-- Where runs ask different questions under one id, only those that ask the same are compared.
scored as (
    select
        outcomes.*,
        coalesce(contradicted.question, '') as question
    from main.task_outcomes as outcomes
    inner join benchmarks using (benchmark)
    left join staging.run_tasks as contradicted using (run_id, task_id)
    where outcomes.n_scored > 0
),
shared as (
    select
        benchmark,
        task_id,
        question,
        string_agg(run_id, '/' order by run_id) as run_ids
    from scored
    group by all
),
numbered as (
    select
        benchmark,
        task_id,
        question,
        dense_rank() over (partition by benchmark order by run_ids) as part
    from shared
),
-- The scored tasks of runs that are not alone, numbered alike where the same runs scored them.
shared_scores as (
    select
        scored.run_id,
        scored.benchmark,
        scored.task_id,
        scored.n_scored,
        scored.n_passed,
        numbered.part
    from scored
    inner join numbered using (benchmark, task_id, question)
),
-- Rates of one denominator are summed as whole numbers.
counted as (
    select
        benchmark,
        part,
        run_id,
        n_scored,
        count(*) as n_tasks,
        sum(n_passed) as n_passed
    from shared_scores
    group by all
),
-- A run's rates summed over the tasks that the same runs scored: these are in the same pairs of runs.
shared_rates as (
    select
        benchmark,
        part,
        run_id,
        sum(n_tasks) as n_tasks,
        sorted_sum(n_passed / nullif(n_scored, 0)) as total_rate
    from counted
    group by all
),
pairs as (
    select
        parts.run_id,
        others.run_id as reference_run_id,
        sum(parts.n_tasks) as n_tasks,
        sorted_sum(parts.total_rate) as total_rate,
        sorted_sum(others.total_rate) as total_reference_rate
    from shared_rates as parts
    inner join shared_rates as others using (benchmark, part)
    where parts.run_id <> others.run_id
    group by parts.run_id, others.run_id
),
ranked as (
    select
        *,
        row_number() over (
            partition by run_id
            order by
                total_reference_rate / nullif(n_tasks, 0) desc,
                n_tasks desc,
                reference_run_id
        ) as rank
    from pairs
),
-- The other run of a benchmark that does best on the tasks both scored, and by how much.
reference_runs as materialized (
    select
        run_id,
        reference_run_id,
        cast(n_tasks as bigint) as n_tasks,
        total_reference_rate / nullif(n_tasks, 0) as pass_at_1,
        difference(total_reference_rate, total_rate) / nullif(n_tasks, 0) as gain
    from ranked
    where rank = 1
),
steps as (
    select run_id, 'baseline' as scope, 1 as part, 1 as place, null as mode from metrics
    union all
    select run_id, 'mode' as scope, 2 as part, place, mode from modes
    union all
    select distinct run_id, 'all' as scope, 3 as part, 1 as place, null as mode from modes
    union all
    select run_id, 'oracle' as scope, 4 as part, 1 as place, null as mode from metrics
    union all
    select run_id, 'reference run' as scope, 5 as part, 1 as place, null as mode
    from reference_runs
    inner join metrics using (run_id)
),
-- The rows of a run's ablation in order: as it is, without each mode and all, at best, another run.
ablation_steps as (
    select
        run_id,
        row_number() over (partition by run_id order by part, place) as step_no,
        scope,
        mode
    from steps
),
gains as (
    select
        steps.run_id,
        steps.step_no,
        case steps.scope
            when 'baseline' then 0
            when 'oracle' then metrics.retry_value
            when 'reference run' then null
            else coalesce(gains.gain, 0)
        end as gain
    from ablation_steps as steps
    inner join main.run_metrics as metrics using (run_id)
    left join ablation_gains as gains
        on gains.run_id = steps.run_id
        and gains.scope = steps.scope
        and gains.name = coalesce(steps.mode, 'all')
)
select
    steps.run_id,
    steps.step_no,
    case
        when steps.scope in ('mode', 'all') then 'without ' || coalesce(steps.mode, 'all')
        else steps.scope
    end as step,
    steps.mode,
    reference.reference_run_id,
    case steps.scope
        when 'oracle' then metrics.pass_at_k
        when 'reference run' then reference.pass_at_1
        else metrics.pass_at_1 + gains.gain
    end as pass_at_1,
    coalesce(reference.gain, gains.gain) as gain,
    coalesce(reference.n_tasks, metrics.n_scored_tasks) as n_tasks
from ablation_steps as steps
inner join main.run_metrics as metrics using (run_id)
inner join gains using (run_id, step_no)
left join reference_runs as reference
    on reference.run_id = steps.run_id
    and steps.scope = 'reference run'
