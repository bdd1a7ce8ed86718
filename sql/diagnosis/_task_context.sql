-- What a run's attempts at a task have in common: limits hit, answers, calls, and other runs' luck.
-- grain: run_id, task_id
-- kind: table
with attempts as (
    select
        run_id, task_id, benchmark,
        attempts.is_recorded, attempts.is_scored,
        coalesce(attempts.is_pass, false) as is_pass,
        attempts.is_scored and not attempts.is_pass as is_failure,
        coalesce(rollouts.is_truncated, false) as is_truncated,
        coalesce(signs.is_timed_out, false)
            or coalesce(
                attempts.outcome = 'failed attempt' and attempts.failure_class = 'timeout_exceeded', false
            ) as is_timed_out,
        records.max_output_tokens,
        signs.verifier_error is not null as has_verifier_error,
        signs.reference, rollouts.answer,
        case when is_failure then comparable(rollouts.answer) end as failing_answer,
        calls.unexpected_call_key
    from staging.attempts
    inner join staging.run_benchmarks using (run_id)
    left join (select * exclude (run_id, task_id, rollout_index) from staging.rollouts) as rollouts
        using (record_id)
    left join staging.records using (record_id)
    left join staging.row_signs as signs using (record_id)
    left join staging.call_signs as calls using (record_id)
),
here as materialized (
    select
        run_id, task_id, benchmark,
        count(*) as n_attempts,
        count(*) filter (where is_scored) as n_scored,
        count(*) filter (where is_pass) as n_passed,
        count(*) filter (where is_failure) as n_failed,
        -- Every failing attempt makes one and the same call that nobody expects.
        n_failed > 1
            and count(unexpected_call_key) filter (where is_failure) = n_failed
            and min(unexpected_call_key) filter (where is_failure)
                = max(unexpected_call_key) filter (where is_failure)
            as is_same_unexpected_call,
        -- Every failing attempt gives one and the same answer.
        n_failed > 1
            and count(answer) filter (where is_failure) = n_failed
            and min(failing_answer) = max(failing_answer)
            as is_same_wrong_answer,
        count(*) filter (where has_verifier_error and not is_pass) as n_verifier_errors,
        n_verifier_errors > 0
            and n_verifier_errors = count(*) filter (where is_recorded and not is_pass)
            as is_verifier_error_for_all,
        min(reference) as reference,
        max(max_output_tokens) as token_limit,
        -- A limit that nothing states, such as one of time, may be everybody's.
        if(bool_or(is_timed_out), null, token_limit) as shared_limit,
        count(*) filter (where is_recorded or is_timed_out) as n_seen,
        count(*) filter (
            where is_pass or (is_recorded and not is_truncated and not is_timed_out)
        ) as n_within
    from attempts
    group by run_id, task_id, benchmark
),
everywhere as (
    select
        benchmark, task_id,
        count(*) filter (where is_verifier_error_for_all) as n_verifier_error_runs,
        min(reference) as reference
    from here
    group by all
),
-- Whether all who share a limit run into it.
limits as (
    select
        here.run_id, here.task_id,
        sum(shared.n_within) = 0 and sum(shared.n_seen) > 1 as is_limit_for_all
    from here
    inner join (
        select
            benchmark, task_id,
            shared_limit,
            sum(n_seen) as n_seen,
            sum(n_within) as n_within
        from here
        group by all
    ) as shared using (benchmark, task_id)
    where coalesce(shared.shared_limit = here.shared_limit, true)
    group by all
),
-- Where the answer lies in an environment, the same words may ask different things.
asked as (
    select distinct benchmark, run_id, task_id, request_hash, rollouts.prompt_sha
    from staging.rollouts
    inner join staging.records using (record_id)
    inner join raw.texts using (record_id)
    inner join staging.run_benchmarks using (run_id)
    where
        not is_tool_call
        and not coalesce(has_feedback, false)
        and regexp_matches(prompt, '\S')
),
-- One task for each expected answer. Three of them are enough to find another for any task, and
-- thousands may ask the same.
members as (
    select benchmark, request_hash, prompt_sha, min(task_id) as task_id
    from asked
    group by benchmark, request_hash, prompt_sha
    qualify row_number() over (
        partition by benchmark, request_hash order by min(task_id), prompt_sha
    ) <= 3
),
-- Tasks that ask word for word what another task asks, and expect another answer.
twins as (
    select asked.run_id, asked.task_id, min(members.task_id) as twin_task_id
    from asked
    inner join members using (benchmark, request_hash)
    where members.prompt_sha <> asked.prompt_sha and members.task_id <> asked.task_id
    group by all
)
select
    here.* exclude (n_verifier_errors, reference, shared_limit, n_seen, n_within),
    everywhere.n_verifier_error_runs, passes.n_passed_elsewhere, limits.is_limit_for_all,
    twins.twin_task_id,
    twin.reference as twin_reference
from here
inner join everywhere using (benchmark, task_id)
inner join staging.run_tasks as passes using (run_id, task_id)
inner join limits using (run_id, task_id)
left join twins using (run_id, task_id)
left join everywhere as twin
    on twin.benchmark = here.benchmark
    and twin.task_id = twins.twin_task_id
