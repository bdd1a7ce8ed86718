-- How each task of a benchmark fared across its runs, and whether it tells good runs from bad ones.
-- grain: benchmark, task_id
with inferred as (
    select runs.benchmark, expected.task_id, count(*) as n_runs
    from main.expected
    inner join main.runs using (run_id)
    where expected.source = 'inferred'
    group by all
),
across as (
    select
        benchmark, task_id,
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
-- Each task's pass rate in a run, beside the run's mean over its other tasks.
beside as (
    select
        benchmark, task_id,
        pass_rate,
        (sum_of_rates - pass_rate) / nullif(n_tasks - 1, 0) as rest
    from main.task_outcomes
    inner join (
        select run_id, sorted_sum(pass_rate) as sum_of_rates, count(pass_rate) as n_tasks
        from main.task_outcomes
        group by all
    ) as runs using (run_id)
    where pass_rate is not null
),
means as (
    select
        benchmark, task_id,
        count(*) as n_rates,
        sorted_sum(pass_rate) / count(*) as difficulty,
        -- A run of one task says nothing of the others.
        sorted_sum(if(rest is null, null, pass_rate)) / nullif(count(rest), 0) as mean_rate,
        sorted_sum(rest) / nullif(count(rest), 0) as mean_rest
    from beside
    group by all
),
-- Pearson's over runs. What rounding leaves of a correlation of 0 has no sign.
correlated as (
    select
        benchmark, task_id,
        case
            when count(*) >= 3
                and max(pass_rate) - min(pass_rate) > 1e-9
                and max(rest) - min(rest) > 1e-9
                then round(
                    sorted_sum((pass_rate - mean_rate) * (rest - mean_rest))
                    / sqrt(
                        sorted_sum((pass_rate - mean_rate) * (pass_rate - mean_rate))
                        * sorted_sum((rest - mean_rest) * (rest - mean_rest))
                    ),
                    12
                ) + 0.0
        end as discrimination
    from beside
    inner join means using (benchmark, task_id)
    where rest is not null
    group by all
)
select
    benchmark, task_id,
    across.buckets,
    case
        when across.n_runs_missing > 0 then 'missing'
        when across.is_unsettled then null
        when across.n_passed = across.n_scored then 'always'
        when across.n_passed = 0 then 'never'
        else 'sometimes'
    end as bucket_across,
    across.n_runs, across.n_runs_missing,
    coalesce(inferred.n_runs, 0) as n_runs_inferred,
    across.n_scored, across.n_passed, across.best_pass_rate, across.worst_pass_rate,
    means.difficulty, correlated.discrimination,
    -- Of one run alone nothing can be told apart.
    case when n_rates > 1 then across.best_pass_rate = 0 or across.worst_pass_rate = 1 end as is_dead,
    correlated.discrimination < 0 as is_noisy
from across
left join inferred using (benchmark, task_id)
left join means using (benchmark, task_id)
left join correlated using (benchmark, task_id)
order by benchmark, task_id
