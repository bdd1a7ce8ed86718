-- What a run's attempts at a task have in common: limits hit, answers, calls, and other runs' luck.
-- grain: run_id, task_id
-- kind: table
with attempts as (
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
    from staging.attempts
    inner join staging.run_benchmarks using (run_id)
    left join main.rollouts using (run_id, task_id, rollout_index)
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
task_limits_attempts as (
    select
        attempts.run_id,
        attempts.task_id,
        run_benchmarks.benchmark,
        attempts.is_recorded,
        coalesce(attempts.is_pass, false) as is_pass,
        coalesce(rollouts.is_truncated, false) as is_truncated,
        coalesce(verifier.is_timed_out, false)
            or coalesce(
                attempts.outcome = 'failed attempt' and attempts.failure_class = 'timeout_exceeded', false
            ) as is_timed_out,
        records.max_output_tokens
    from staging.attempts
    inner join staging.run_benchmarks using (run_id)
    left join main.rollouts using (run_id, task_id, rollout_index)
    left join staging.verifier_signs as verifier using (record_id)
    left join staging.records using (record_id)
),
task_limits_here as (
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
    from task_limits_attempts as attempts
    group by all
),
shared as (
    select
        benchmark,
        task_id,
        shared_limit,
        sum(n_seen) as n_seen,
        sum(n_within) as n_within
    from task_limits_here as here
    group by all
),
-- The token limit of a run's attempts at a task, and whether all who share a limit run into it.
task_limits as (
    select
        here.run_id,
        here.task_id,
        here.token_limit,
        sum(shared.n_within) = 0 and sum(shared.n_seen) > 1 as is_limit_for_all
    from task_limits_here as here
    inner join shared
        on shared.benchmark = here.benchmark
        and shared.task_id = here.task_id
        and coalesce(shared.shared_limit = here.shared_limit, true)
    group by here.run_id, here.task_id, here.token_limit
),
-- Where the answer lies in an environment, the same words may ask different things.
asked as (
    select
        run_benchmarks.benchmark,
        keys.run_id,
        keys.task_id,
        records.request_sha,
        records.prompt_sha
    from staging.rollout_keys as keys
    inner join staging.records using (record_id)
    inner join staging.signs using (record_id)
    inner join staging.run_benchmarks using (run_id)
    where
        not run_benchmarks.is_tool_call
        and not coalesce(signs.has_feedback, false)
        and regexp_matches(records.prompt, '\S')
    group by all
),
-- One task for each expected answer. Three of them are enough to find another for any task, and
-- thousands may ask the same.
members as (
    select
        benchmark,
        request_sha,
        prompt_sha,
        min(task_id) as task_id,
        row_number() over (partition by benchmark, request_sha order by min(task_id), prompt_sha) as rank
    from asked
    group by benchmark, request_sha, prompt_sha
),
-- Tasks that ask word for word what another task asks, and expect another answer.
twin_tasks as (
    select
        asked.run_id,
        asked.task_id,
        min(members.task_id) as twin_task_id
    from asked
    inner join members
        on members.benchmark = asked.benchmark
        and members.request_sha = asked.request_sha
        and members.prompt_sha <> asked.prompt_sha
        and members.task_id <> asked.task_id
    where members.rank <= 3
    group by asked.run_id, asked.task_id
)
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
inner join staging.run_tasks as passes using (run_id, task_id)
inner join task_limits as limits using (run_id, task_id)
left join twin_tasks as twins using (run_id, task_id)
left join everywhere as twin
    on twin.benchmark = here.benchmark
    and twin.task_id = twins.twin_task_id
