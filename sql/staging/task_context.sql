-- What a run's attempts at a task have in common: limits hit, answers, calls, and other runs' luck.
-- grain: run_id, task_id
-- kind: table
with

attempts as (

    select
        attempts.run_id,
        attempts.task_id,
        attempts.rollout_index,
        attempts.is_recorded,
        attempts.is_scored,
        attempts.is_pass,
        run_benchmarks.benchmark,
        rollouts.answer,
        coalesce(rollouts.is_truncated, false) as is_truncated,
        attempts.outcome = 'failed attempt' and failed.failure_class = 'timeout_exceeded'
            or coalesce(verifier.is_timed_out, false) as is_timed_out,
        verifier.verifier_error is not null as has_verifier_error,
        verifier.reference,
        actions.unexpected_call_key

    from staging.attempts as attempts

    inner join staging.run_benchmarks as run_benchmarks using (run_id)

    left join main.rollouts as rollouts using (run_id, task_id, rollout_index)

    left join staging.failed_attempts as failed using (run_id, task_id, rollout_index)

    left join staging.verifier_signs as verifier using (record_id)

    left join staging.action_signs as actions using (record_id)

),

everywhere as (

    select
        benchmark,
        task_id,
        count(*) filter (where is_pass) as n_passed,
        count(distinct run_id) filter (where is_pass) as n_passing_runs,
        count(distinct run_id) filter (where has_verifier_error) as n_verifier_error_runs,
        count(*) filter (where is_recorded or is_timed_out) as n_seen,
        count(*) filter (where is_truncated or is_timed_out) as n_limited,
        min(reference) as reference

    from attempts

    group by all

),

here as (

    select
        run_id,
        task_id,
        benchmark,
        count(*) as n_attempts,
        count(*) filter (where is_recorded) as n_recorded,
        count(*) filter (where is_scored) as n_scored,
        count(*) filter (where is_pass) as n_passed,
        count(*) filter (where is_scored and not is_pass) as n_failed,
        count(*) filter (where is_scored and not is_pass and unexpected_call_key is not null)
            as n_failed_beyond,
        count(distinct unexpected_call_key) filter (where is_scored and not is_pass)
            as n_unexpected_keys,
        count(distinct answer) filter (where is_scored and not is_pass) as n_wrong_answers,
        count(*) filter (where has_verifier_error) as n_verifier_errors

    from attempts

    group by all

),

final as (

    select
        here.run_id,
        here.task_id,
        here.benchmark,
        here.n_attempts,
        here.n_recorded,
        here.n_scored,
        here.n_passed,
        here.n_failed,
        -- Every failing attempt makes one and the same call that nobody expects.
        here.n_failed_beyond = here.n_failed and here.n_unexpected_keys = 1 and here.n_failed > 1
            as is_same_unexpected_call,
        here.n_wrong_answers,
        here.n_verifier_errors,
        everywhere.n_verifier_error_runs,
        everywhere.n_passed - here.n_passed as n_passed_elsewhere,
        everywhere.n_passing_runs,
        -- Whoever tries it runs into the limit, more than once.
        everywhere.n_limited = everywhere.n_seen and everywhere.n_seen > 1 and everywhere.n_passed = 0
            as is_limit_for_all,
        twins.twin_task_id,
        twin.reference as twin_reference

    from here

    inner join everywhere using (benchmark, task_id)

    left join staging.twin_tasks as twins using (run_id, task_id)

    left join everywhere as twin
        on twin.benchmark = here.benchmark
        and twin.task_id = twins.twin_task_id

)

select * from final
