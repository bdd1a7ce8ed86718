-- Of each benchmark the tasks that some run never passes, and how many of them another run does.
-- grain: benchmark
-- needs: main.never_dives
with tasks as (
    select
        outcomes.benchmark,
        dives.task_id,
        bool_or(dives.n_passing_runs > 0) as is_passed
    from main.never_dives as dives
    inner join main.task_outcomes as outcomes using (run_id, task_id)
    group by all
),
scored as (
    select
        benchmark,
        count(*) as n_scored_tasks
    from main.bucket_matrix
    where n_scored > 0
    group by all
),
runs as (
    select
        benchmark,
        count(*) as n_runs
    from main.runs
    group by all
),
counted as (
    select
        benchmark,
        count(*) as n_tasks,
        count(*) filter (where is_passed) as n_passed_elsewhere,
        count(*) filter (where not is_passed) as n_passed_nowhere
    from tasks
    group by all
)
select
    counted.*,
    scored.n_scored_tasks,
    runs.n_runs
from counted
inner join scored using (benchmark)
inner join runs using (benchmark)
order by runs.n_runs desc, counted.n_tasks desc, counted.benchmark
