-- How many tasks of a run always, sometimes or never passed, or are missing.
-- grain: run_id, bucket
-- kind: table
with runs as (
    select
        run_id,
        pass_threshold is not null as is_pass_known
    from main.runs
),
buckets as (
    select unnest(['always', 'sometimes', 'never', 'missing']) as bucket
),
outcomes as (
    select
        run_id,
        bucket,
        count(*) as n_tasks,
        count(*) filter (where is_partial) as n_partial_tasks
    from main.task_outcomes
    group by all
),
totals as (
    select
        run_id,
        count(*) as n_tasks
    from main.task_outcomes
    group by all
)
-- Where nothing says what passes, only the missing can be counted.
select
    runs.run_id,
    buckets.bucket,
    case
        when runs.is_pass_known or buckets.bucket = 'missing' then coalesce(outcomes.n_tasks, 0)
    end as n_tasks,
    case
        when runs.is_pass_known or buckets.bucket = 'missing'
            then coalesce(outcomes.n_tasks, 0) / nullif(totals.n_tasks, 0)
    end as task_rate,
    case
        when runs.is_pass_known or buckets.bucket = 'missing'
            then coalesce(outcomes.n_partial_tasks, 0)
    end as n_partial_tasks
from runs
cross join buckets
left join outcomes using (run_id, bucket)
left join totals using (run_id)
