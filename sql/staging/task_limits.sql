-- The token limit of a run's attempts at a task, and whether all who share a limit run into it.
-- grain: run_id, task_id
-- kind: table
with

attempts as (

    select
        attempts.run_id,
        attempts.task_id,
        run_benchmarks.benchmark,
        attempts.is_recorded,
        coalesce(attempts.is_pass, false) as is_pass,
        coalesce(rollouts.is_truncated, false) as is_truncated,
        coalesce(verifier.is_timed_out, false)
            or coalesce(
                attempts.outcome = 'failed attempt' and failed.failure_class = 'timeout_exceeded', false
            ) as is_timed_out,
        records.max_output_tokens

    from staging.attempts as attempts

    inner join staging.run_benchmarks as run_benchmarks using (run_id)

    left join main.rollouts as rollouts using (run_id, task_id, rollout_index)

    left join staging.failed_attempts as failed using (run_id, task_id, rollout_index)

    left join staging.verifier_signs as verifier using (record_id)

    left join staging.records as records using (record_id)

),

here as (

    select
        run_id,
        task_id,
        benchmark,
        max(max_output_tokens) as token_limit,
        -- A limit that nothing states, such as one of time, may be everybody's.
        case when count(*) filter (where is_timed_out) = 0 then max(max_output_tokens) end as shared_limit,
        count(*) filter (where is_recorded or is_timed_out) as n_seen,
        count(*) filter (
            where is_pass or (is_recorded and not is_truncated and not is_timed_out)
        ) as n_within

    from attempts

    group by all

),

shared as (

    select
        benchmark,
        task_id,
        shared_limit,
        sum(n_seen) as n_seen,
        sum(n_within) as n_within

    from here

    group by all

),

final as (

    select
        here.run_id,
        here.task_id,
        here.token_limit,
        sum(shared.n_within) = 0 and sum(shared.n_seen) > 1 as is_limit_for_all

    from here

    inner join shared
        on shared.benchmark = here.benchmark
        and shared.task_id = here.task_id
        and coalesce(shared.shared_limit = here.shared_limit, true)

    group by here.run_id, here.task_id, here.token_limit

)

select * from final
