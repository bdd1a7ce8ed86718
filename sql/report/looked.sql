-- What was looked at to find modes, and how often what is often suspected occurs.
-- grain: benchmark
-- looks at: run
-- kind: table
with
-- What lacks an answer, though it may have ended on something else than a message.
unanswered as (
    select distinct
        run_id,
        task_id,
        rollout_index
    from staging.signs
    where kind = 'answer' and value in ('is empty', 'is missing after the last tool call', 'was not extracted')
),
rollouts as (
    select
        benchmark,
        run_id,
        task_id,
        rollout_index,
        is_observed,
        finish_reason,
        status,
        is_scored,
        is_pass,
        is_threshold_assumed and is_pass is not null as is_mark_assumed,
        reward,
        unanswered.run_id is not null as is_unanswered,
        coalesce(last_message_seq = n_events, false) or is_unanswered as is_answering
    from staging.rollouts
    inner join staging.run_benchmarks using (run_id)
    left join unanswered using (run_id, task_id, rollout_index)
),
totals as (
    select
        benchmark,
        count(*) as n_attempts,
        count(*) filter (where is_scored) as n_scored,
        -- Rewards that are neither 0 nor 1, where a pass is only taken to be 1.
        count(*) filter (where is_mark_assumed and is_partial_reward(reward)) as n_partial_rewards,
        count(*) filter (where is_observed) as n_observed,
        -- An attempt answers if its last event is the model's own message, which may be empty. What
        -- fewer than half of the attempts record is not looked for.
        count(*) filter (where is_answering) as n_with_answer,
        if(2 * n_with_answer >= n_attempts, n_with_answer, 0) as n_answering,
        if(n_answering > 0, count(*) filter (where is_observed and not is_answering), 0) as n_without_message,
        count(*) filter (where is_unanswered) as n_empty,
        count(*) filter (where finish_reason is not null or status is not null) as n_ends_known,
        if(2 * n_ends_known >= n_attempts, n_ends_known, 0) as n_limit_known
    from rollouts
    group by all
),
-- Failures at tasks that at least half of the other attempts pass, where they pass most first; of one or two
-- others nothing follows.
lone_failures as (
    select
        benchmark,
        cast(sum(n_failures) as bigint) as n_failures,
        list(citation order by n_passes / n_others desc, n_others desc, citation)[:2] as citations,
        arg_min(n_passes, (-n_passes / n_others, -n_others, citation)) as n_passes,
        arg_min(n_others, (-n_passes / n_others, -n_others, citation)) as n_others
    from (
        select
            benchmark,
            task_id,
            count(*) filter (where is_pass) as n_passes,
            count(*) filter (where not is_pass) as n_failures,
            count(*) - 1 as n_others,
            arg_min(run_id || '/' || task_id || ':' || rollout_index, (run_id, rollout_index))
                filter (where not is_pass) as citation
        from rollouts
        where is_pass is not null
        group by all
    )
    where n_failures > 0 and n_others >= 3 and 2 * n_passes >= n_others
    group by all
),
-- Limits that the settings of a run name: message_limit, time_limit.
set_limits as (
    select
        benchmark,
        list(distinct replace(regexp_replace(name, '_limit$', ''), '_', ' ')) as kinds
    from staging.run_settings
    inner join staging.run_benchmarks using (run_id)
    where name like '%\_limit' escape '\'
    group by all
),
at_limits as (
    select
        benchmark,
        count(distinct (run_id, task_id, rollout_index)) as n_at_limit,
        count(distinct (run_id, task_id, rollout_index)) filter (where is_pass) as n_passes_at_limit,
        list(distinct sign order by sign)[:3] as limits_reached
    from staging.signs
    inner join rollouts using (run_id, task_id, rollout_index)
    where kind = 'limit'
    group by all
),
signs as (
    select
        benchmark,
        count(distinct name) filter (where kind = 'field') as n_fields,
        count(distinct name) filter (where kind = 'call') as n_tools,
        count(distinct value) filter (where kind = 'error') as n_errors,
        count(distinct (run_id, task_id, rollout_index)) filter (where kind = 'ungraded') as n_ungraded
    from staging.signs
    inner join staging.run_benchmarks using (run_id)
    group by all
),
checks as (
    select
        benchmark,
        count(distinct (source, check_name)) as n_checks
    from main.checks
    inner join staging.run_benchmarks using (run_id)
    group by all
),
verdicts as (
    select
        benchmark,
        list(mode order by mode) filter (where reason = 'same as score' and value = '0') as same_as_score,
        list(mode || ' (other than the score in ' || value || if(value = '1', ' attempt)', ' attempts)') order by mode)
            filter (where reason = 'same as score' and value <> '0') as nearly_score,
        list(name order by name) filter (where reason = 'part of score') as parts_of_score
    from staging.modes
    group by all
),
-- A behaviour is no way to fail, but the table of modes lists it.
covered as (
    select
        benchmark,
        count(*) as n_failures,
        count(*) filter (where is_unshared) as n_unshared
    from (
        select
            run_id,
            task_id,
            rollout_index,
            bool_and(mode = 'no shared sign') as is_unshared
        from main.rollout_modes
        group by all
    )
    inner join staging.run_benchmarks using (run_id)
    inner join staging.attempts using (run_id, task_id, rollout_index)
    where not is_never_run
    group by all
)
select
    benchmark,
    totals.n_attempts,
    totals.n_observed,
    totals.n_answering,
    totals.n_without_message,
    totals.n_limit_known,
    totals.n_scored,
    totals.n_partial_rewards,
    coalesce(signs.n_fields, 0) as n_fields,
    coalesce(signs.n_tools, 0) as n_tools,
    coalesce(signs.n_errors, 0) as n_errors,
    coalesce(checks.n_checks, 0) as n_checks,
    coalesce(at_limits.n_at_limit, 0) as n_at_limit,
    coalesce(at_limits.n_passes_at_limit, 0) as n_passes_at_limit,
    coalesce(at_limits.limits_reached, []) as limits_reached,
    -- What an attempt could be seen to run into.
    if(
        totals.n_limit_known > 0,
        list_sort(list_distinct(list_append(coalesce(set_limits.kinds, []), 'token'))),
        []
    ) as limit_kinds,
    -- Limits are modes where failures run into them more often, by themselves or as an attempt's end.
    coalesce(at_limits.n_at_limit, 0) > 0 and benchmark not in (
        select modes.benchmark
        from staging.modes
        where modes.kind = 'limit' or modes.reason = 'terminal'
    ) as is_limit_no_mode,
    totals.n_empty,
    coalesce(signs.n_ungraded, 0) as n_ungraded,
    -- Where nothing is scored, nothing is known to have failed.
    if(totals.n_scored > 0, coalesce(covered.n_failures, 0), 0) as n_failures,
    if(totals.n_scored > 0, coalesce(covered.n_unshared, 0), 0) as n_unshared,
    coalesce(lone_failures.n_failures, 0) as n_lone_failures,
    coalesce(lone_failures.citations, []) as lone_failures,
    -- At the task of the first of them.
    lone_failures.n_passes as n_lone_passes,
    lone_failures.n_others as n_lone_others,
    coalesce(verdicts.same_as_score, []) as same_as_score,
    coalesce(verdicts.nearly_score, []) as nearly_score,
    coalesce(verdicts.parts_of_score, []) as parts_of_score
from totals
left join signs using (benchmark)
left join at_limits using (benchmark)
left join set_limits using (benchmark)
left join checks using (benchmark)
left join verdicts using (benchmark)
left join covered using (benchmark)
left join lone_failures using (benchmark)
order by benchmark
