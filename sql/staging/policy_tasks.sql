-- Passes and attempts of a task under each way to count what was not scored.
-- grain: run_id, policy, task_id
with

attempts as (

    select * from staging.attempts

),

counted as (

    select
        run_id,
        task_id,
        count(*) as n_attempts,
        count(*) filter (where is_scored) as n_scored,
        count(*) filter (where is_pass) as n_passed,
        count(*) filter (where is_infrastructure) as n_infrastructure

    from attempts

    group by all

),

policies as (

    select unnest(['dropped', 'counted_as_fail', 'infrastructure_dropped']) as policy

),

final as (

    select
        counted.run_id,
        policies.policy,
        counted.task_id,
        counted.n_attempts,
        counted.n_passed,
        case policies.policy
            when 'dropped' then counted.n_scored
            when 'counted_as_fail' then counted.n_attempts
            else counted.n_attempts - counted.n_infrastructure
        end as n_counted

    from counted

    cross join policies

)

select * from final
