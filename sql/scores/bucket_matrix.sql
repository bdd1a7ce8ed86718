-- How each task of a benchmark does in all its runs, and whether it distinguishes good runs from bad ones.
-- grain: benchmark, task_id
-- looks at: task
-- kind: table
-- computed by: pipeline.analysis.trends.discriminations from beside_rest
-- columns: *, q_noisy
with
-- Each task's pass rate in a run, beside the run's mean over its other tasks.
beside as (
    select
        benchmark,
        task_id,
        n_scored,
        n_passed,
        pass_rate,
        (sum_of_rates - pass_rate) / (n_tasks - 1) as rest
    from main.task_outcomes
    inner join (
        select
            run_id,
            sorted_sum(pass_rate) as sum_of_rates,
            count(pass_rate) as n_tasks
        from main.task_outcomes
        group by all
    ) as runs using (run_id)
    -- A run of one task says nothing of the others.
    where pass_rate is not null and n_tasks > 1
),
means_beside as (
    select
        benchmark,
        task_id,
        sorted_sum(pass_rate) / count(*) as mean_rate,
        sorted_sum(rest) / count(*) as mean_rest
    from beside
    group by all
),
-- Whether runs that do better on other tasks do better on this one: a correlation, and sums for its test.
beside_rest as (
    select
        benchmark,
        task_id,
        -- Pearson's over runs. What rounding leaves of a correlation of 0 has no sign.
        round(
            sorted_sum((pass_rate - mean_rate) * (rest - mean_rest))
            / sqrt(
                sorted_sum((pass_rate - mean_rate) * (pass_rate - mean_rate))
                * sorted_sum((rest - mean_rest) * (rest - mean_rest))
            ),
            12
        ) + 0.0 as discrimination,
        cast(sum(n_scored) as bigint) as n_scored,
        cast(sum(n_passed) as bigint) as n_passed,
        sorted_sum(n_scored * (rest - mean_rest)) as sum_rest,
        sorted_sum(n_scored * (rest - mean_rest) ** 2) as sum_square_rest,
        sorted_sum(n_passed * (rest - mean_rest)) as sum_passed_rest
    from beside
    inner join means_beside using (benchmark, task_id)
    group by all
    having
        count(*) >= 3
        and max(pass_rate) - min(pass_rate) > 1e-9
        and max(rest) - min(rest) > 1e-9
    order by benchmark, task_id
),
inferred as (
    select
        runs.benchmark,
        expected.task_id,
        count(*) as n_runs
    from main.expected
    inner join main.runs using (run_id)
    where expected.source = 'inferred'
    group by all
),
across as (
    select
        benchmark,
        task_id,
        map_from_entries(list(struct_pack(key := run_id, value := bucket) order by run_id)) as buckets,
        count(*) as n_runs,
        count(*) filter (bucket = 'missing') as n_runs_missing,
        bool_or(bucket is null) as is_unsettled,
        cast(sum(n_scored) as bigint) as n_scored,
        cast(sum(n_passed) as bigint) as n_passed,
        max(pass_rate) as best_pass_rate,
        min(pass_rate) as worst_pass_rate
    from main.task_outcomes
    group by all
),
means as (
    select
        benchmark,
        task_id,
        count(*) as n_rates,
        sorted_sum(pass_rate) / count(*) as difficulty
    from main.task_outcomes
    where pass_rate is not null
    group by all
)
select
    benchmark,
    task_id,
    across.buckets,
    case
        when across.n_runs_missing > 0 then 'missing'
        when across.is_unsettled then null
        when across.n_passed = across.n_scored then 'always'
        when across.n_passed = 0 then 'never'
        else 'sometimes'
    end as bucket_across,
    across.n_runs,
    across.n_runs_missing,
    coalesce(inferred.n_runs, 0) as n_runs_inferred,
    across.n_scored,
    across.n_passed,
    across.best_pass_rate,
    across.worst_pass_rate,
    means.difficulty,
    discriminations_of_task.discrimination,
    discriminations_of_task.q_noisy,
    -- A single run cannot be compared.
    case when n_rates > 1 then across.best_pass_rate = 0 or across.worst_pass_rate = 1 end as is_dead,
    discriminations_of_task.q_noisy <= 0.05 as is_noisy
from across
left join inferred using (benchmark, task_id)
left join means using (benchmark, task_id)
left join temp.discriminations as discriminations_of_task using (benchmark, task_id)
