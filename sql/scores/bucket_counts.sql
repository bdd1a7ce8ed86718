-- How many tasks of a run always, sometimes or never passed, or are missing.
-- grain: run_id, bucket
-- looks at: run
with outcomes as (
    select
        run_id,
        bucket,
        count(*) as n_tasks,
        count(*) filter (is_partial) as n_partial_tasks
    from main.task_outcomes
    group by all
),
grid as (
    select
        run_id,
        n_tasks as n_all,
        pass_threshold is not null as is_pass_known,
        unnest(['always', 'sometimes', 'never', 'missing']) as bucket
    from main.runs
)
-- Where nothing says what passes, only the missing can be counted.
select
    run_id,
    bucket,
    case when is_pass_known or bucket = 'missing' then coalesce(outcomes.n_tasks, 0) end as n_tasks,
    case
        when is_pass_known or bucket = 'missing'
            then coalesce(outcomes.n_tasks, 0) / nullif(n_all, 0)
    end as task_rate,
    case when is_pass_known or bucket = 'missing' then coalesce(outcomes.n_partial_tasks, 0) end
        as n_partial_tasks
from grid
left join outcomes using (run_id, bucket)
order by run_id, bucket
