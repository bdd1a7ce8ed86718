-- What in the record speaks against the score of a run: figures that differ, ill health, suspicions.
-- grain: run_id, kind
with

attempts as (

    select
        run_id,
        max(n_reached) as n_attempts

    from main.funnel

    group by all

),

-- Only figures of passes and rewards are on the scale of the score; pass@k is reported in percent.
reported as (

    select
        run_id,
        status,
        metric,
        reported as value,
        ours,
        case
            when metric like 'pass@%' then least(abs(reported - ours) / 100, 1)
            when metric = 'mean/reward' then least(abs(reported - ours), 1)
            else 0
        end as stake,
        metric like 'pass@%' or metric = 'mean/reward' as is_score,
        row_number() over (
            partition by run_id
            order by status <> 'differs', task_id is not null, not is_score, stake desc, metric, source_file, task_id
        ) as rank,
        count(*) filter (where status = 'differs') over (partition by run_id) as n_concerned,
        count(*) over (partition by run_id) as n_total

    from main.reported_checks

    where status in ('equal', 'differs')

),

differing as (

    select
        run_id,
        'reported' as kind,
        true as is_overturning,
        stake,
        metric as subject,
        value,
        ours,
        n_concerned,
        n_total

    from reported

    where rank = 1 and status = 'differs'

),

-- Of recorded rollouts: a check may also find what left no row to open.
found as (

    select
        run_id,
        unnest(findings) as check_id,
        run_id || '/' || task_id || ':' || rollout_index as example

    from main.rollout_health

    where health = 'unhealthy'

),

checks as (

    select
        run_id,
        check_id,
        count(*) as n_rollouts,
        arg_min(example, (length(example), example)) as example

    from found

    group by all

),

commonest as (

    select
        run_id,
        arg_min(check_id, (-n_rollouts, check_id)) as subject,
        arg_min(example, (-n_rollouts, check_id)) as example

    from checks

    group by all

),

unhealthy as (

    select
        health.run_id,
        'unhealthy' as kind,
        false as is_overturning,
        1 - health.clean_rate as stake,
        commonest.subject,
        health.n_unhealthy as n_concerned,
        health.n_rollouts as n_total,
        1 - health.clean_rate as share,
        commonest.example

    from main.run_health as health

    inner join commonest using (run_id)

    where health.n_unhealthy > 0

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

),

suspects as (

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

),

final as (

    select * from differing
    union all by name
    select * from unhealthy
    union all by name
    select * from suspects

)

select * from final
