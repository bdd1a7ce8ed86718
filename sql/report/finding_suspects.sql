-- How many failures of a run may come from the task, its verifier, the data or the infrastructure.
-- grain: run_id
with attempts as (
    select
        run_id,
        max(n_reached) as n_attempts
    from main.funnel
    group by all
),
-- Of several signs of one task the one that most attempts bear; weak signs hold for few of them.
suspected as (
    select
        run_id,
        task_id,
        arg_min(cause, (-n_with, cause, rule)) as cause,
        -- Other runs may bear witness; what is cited is of this one.
        arg_min(
            list_filter(evidence, lambda cited: starts_with(cited, run_id || '/'))[1],
            (-n_with, cause, rule)
        ) as example,
        max(n_with) as n_with
    from main.suspicions
    where confidence <> 'weak' and n_with > 0
    group by all
)
select
    suspected.run_id,
    'suspect' as kind,
    false as is_overturning,
    sum(suspected.n_with) / nullif(any_value(attempts.n_attempts), 0) as stake,
    array_to_string(list(distinct suspected.cause order by suspected.cause), ', ') as subject,
    cast(sum(suspected.n_with) as bigint) as n_concerned,
    any_value(modes.n_failures) as n_total,
    sum(suspected.n_with) / nullif(any_value(modes.n_failures), 0) as share,
    count(*) as n_tasks,
    arg_min(suspected.example, (-suspected.n_with, suspected.example))
        filter (where suspected.example is not null) as example
from suspected
inner join attempts using (run_id)
inner join (select run_id, max(n_failures) as n_failures from main.failure_modes group by all) as modes
    using (run_id)
group by suspected.run_id
