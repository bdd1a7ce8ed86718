-- How the tasks of a benchmark fared over all its runs, and how many no attempt of any run passes.
-- grain: benchmark
-- looks at: run
with runs as (
    select
        benchmark,
        count(*) as n_runs,
        bool_or(n_scored > 0 and pass_threshold is null) as is_unsettled
    from main.run_metrics
    group by all
),
counted as (
    select
        benchmark,
        count(*) as n_tasks,
        count(*) filter (where n_scored > 0) as n_scored_tasks,
        count(*) filter (where n_scored > 0 and n_passed = n_scored) as n_always,
        count(*) filter (where n_passed > 0 and n_passed < n_scored) as n_sometimes,
        count(*) filter (where n_scored > 0 and n_passed = 0) as n_never,
        count(*) filter (where n_scored = 0) as n_unscored,
        count(*) filter (where n_runs_missing > 0) as n_missing_somewhere
    from (
        select
            benchmark,
            task_id,
            sum(n_scored) as n_scored,
            sum(n_passed) as n_passed,
            count(*) filter (bucket = 'missing') as n_runs_missing
        from main.task_outcomes
        group by all
    )
    group by all
)
select
    runs.benchmark,
    runs.n_runs,
    runs.is_unsettled,
    coalesce(counted.n_tasks, 0) as n_tasks,
    coalesce(counted.n_scored_tasks, 0) as n_scored_tasks,
    case when not runs.is_unsettled then coalesce(counted.n_always, 0) end as n_always,
    case when not runs.is_unsettled then coalesce(counted.n_sometimes, 0) end as n_sometimes,
    case when not runs.is_unsettled then coalesce(counted.n_never, 0) end as n_never,
    coalesce(counted.n_unscored, 0) as n_unscored,
    coalesce(counted.n_missing_somewhere, 0) as n_missing_somewhere
from runs
left join counted using (benchmark)
order by runs.n_runs desc, runs.benchmark
