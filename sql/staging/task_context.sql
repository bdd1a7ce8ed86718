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
        verifier.verifier_error is not null as has_verifier_error,
        verifier.reference,
        actions.unexpected_call_key

    from staging.attempts as attempts

    inner join staging.run_benchmarks as run_benchmarks using (run_id)

    left join main.rollouts as rollouts using (run_id, task_id, rollout_index)

    left join staging.verifier_signs as verifier using (record_id)

    left join staging.action_signs as actions using (record_id)

),

here as (

    select
        run_id,
        task_id,
        benchmark,
        count(*) as n_attempts,
        count(*) filter (where is_scored) as n_scored,
        count(*) filter (where is_pass) as n_passed,
        count(*) filter (where is_scored and not is_pass) as n_failed,
        count(*) filter (where is_scored and not is_pass and unexpected_call_key is not null)
            as n_failed_beyond,
        count(distinct unexpected_call_key) filter (where is_scored and not is_pass)
            as n_unexpected_keys,
        count(answer) filter (where is_scored and not is_pass) as n_answered,
        count(distinct comparable(answer)) filter (where is_scored and not is_pass) as n_wrong_answers,
        count(*) filter (where has_verifier_error and not coalesce(is_pass, false)) as n_verifier_errors,
        count(*) filter (where is_recorded and not coalesce(is_pass, false)) as n_judged,
        min(reference) as reference

    from attempts

    group by all

),

everywhere as (

    select
        benchmark,
        task_id,
        count(*) filter (where n_verifier_errors > 0 and n_verifier_errors = n_judged)
            as n_verifier_error_runs,
        min(reference) as reference

    from here

    group by all

),

final as (

    select
        here.run_id,
        here.task_id,
        here.benchmark,
        here.n_attempts,
        here.n_scored,
        here.n_passed,
        here.n_failed,
        -- Every failing attempt makes one and the same call that nobody expects.
        here.n_failed_beyond = here.n_failed and here.n_unexpected_keys = 1 and here.n_failed > 1
            as is_same_unexpected_call,
        -- Every failing attempt gives one and the same answer.
        here.n_answered = here.n_failed and here.n_wrong_answers = 1 and here.n_failed > 1
            as is_same_wrong_answer,
        here.n_verifier_errors > 0 and here.n_verifier_errors = here.n_judged as is_verifier_error_for_all,
        everywhere.n_verifier_error_runs,
        passes.n_passed_elsewhere,
        limits.token_limit,
        limits.is_limit_for_all,
        twins.twin_task_id,
        twin.reference as twin_reference

    from here

    inner join everywhere using (benchmark, task_id)

    inner join staging.question_passes as passes using (run_id, task_id)

    inner join staging.task_limits as limits using (run_id, task_id)

    left join staging.twin_tasks as twins using (run_id, task_id)

    left join everywhere as twin
        on twin.benchmark = here.benchmark
        and twin.task_id = twins.twin_task_id

)

select * from final
