-- Whether runs that do better on other tasks do better on this one: a correlation, and a test.
-- grain: benchmark, task_id
-- kind: table
-- needs: (from main.runs limit 1 offset 1)
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
means as (
    select
        benchmark,
        task_id,
        sorted_sum(pass_rate) / count(*) as mean_rate,
        sorted_sum(rest) / count(*) as mean_rest
    from beside
    group by all
)
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
inner join means using (benchmark, task_id)
group by all
having
    count(*) >= 3
    and max(pass_rate) - min(pass_rate) > 1e-9
    and max(rest) - min(rest) > 1e-9
order by benchmark, task_id
