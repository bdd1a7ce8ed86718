-- What to look into first: one per mode over all runs, and keys that every attempt contradicts alike.
-- What makes the score itself wrong, limits and errors of the harness, then modes by the failures that
-- they cover.
-- grain: benchmark, rank
-- kind: table
with modes as (
    select
        failure_modes.* exclude (run_id, top_tasks),
        -- The few tasks that have most of these failures.
        if(
            list_sum(list_transform(
                failure_modes.top_tasks[:3], lambda task: regexp_extract(task, '(\d+)\)$', 1)::bigint
            )) >= 0.75 * n_failures,
            failure_modes.top_tasks[:3],
            []
        ) as top_tasks,
        -- The one or two of several runs that have most of these failures.
        case
            when runs.counts[1] >= 0.75 * n_failures then runs.names[:1]
            when len(runs.counts) > 2 and runs.counts[1] + runs.counts[2] >= 0.75 * n_failures then runs.names[:2]
        end as top_runs
    from main.failure_modes
    left join (
        select
            benchmark,
            mode,
            list(n_failures order by n_failures desc, run_id) as counts,
            list(run_id || ' (' || n_failures || ')' order by n_failures desc, run_id) as names
        from main.failure_modes
        where run_id is not null and parent is null
        group by all
        having count(*) > 1
    ) as runs using (benchmark, mode)
    where
        run_id is null
        and parent is null
        and is_told
        and reason <> 'behaviour'
        -- One or two of many failures are no pattern.
        and (n_failures > 2 or 10 * n_failures > n_all_failures)
),
-- Tasks that no attempt passes, where every attempt has a short answer to set beside a key.
answered as (
    select
        benchmark,
        task_id,
        count(*) as n_attempts,
        count(distinct comparable(answers.answer)) as n_answers,
        bool_or(is_pass) as is_solved,
        bool_and(
            length(answers.answer) <= 80
            and comparable(answers.answer) <> comparable(answers.key)
        ) and count(answers.key) = count(*) as is_wrong,
        min(answers.key) as key,
        arg_min(run_id || '/' || task_id || ':' || rollout_index, (run_id, rollout_index)) as citation
    from staging.rollouts
    inner join staging.run_benchmarks using (run_id)
    left join staging.answers using (record_id)
    where is_scored
    group by all
),
keys as (
    select
        benchmark,
        count(*) as n_all_tasks,
        count(*) filter (where not is_solved and n_attempts > 2) as n_never,
        list(
            {citation: citation, n: n_attempts}
            order by n_attempts desc, try_cast(task_id as bigint), task_id
        ) filter (where not is_solved and n_attempts > 2 and is_wrong and n_answers = 1) as alike,
        case when count(distinct key) = 1 and count(key) = count(*) then min(key) end as only_key
    from answered
    -- Where nearly all answers are one of two, the wrong ones are the same anyway.
    semi join (
        select benchmark
        from (
            select
                benchmark,
                count(*) as n
            from staging.answers
            inner join staging.rollouts using (record_id)
            inner join staging.run_benchmarks using (run_id)
            group by benchmark, comparable(answers.answer)
        )
        group by benchmark
        having list_sum(max(n, 2)) < 0.9 * sum(n)
    ) as varied using (benchmark)
    group by all
    having len(alike) > 0
),
every as (
    from modes
    union all by name
    select
        benchmark,
        'one answer in every attempt, other than the key' as mode,
        'key' as reason,
        'verifier' as look_at,
        cast(list_sum(list_transform(alike, lambda task: task.n)) as bigint) as n_failures,
        totals.n_failures_observed,
        false as is_of_some,
        true as is_graded,
        0 as n_passes,
        totals.n_passes_observed,
        len(alike) as n_tasks,
        n_never as n_never_tasks,
        only_key,
        if(only_key is null, null, n_all_tasks) as n_only_key_tasks,
        list_transform(alike, lambda task: task.citation)[:3] as citations,
        citations as failing_citations
    from keys
    inner join (
        select
            benchmark,
            count(*) filter (where not is_pass) as n_failures_observed,
            count(*) filter (where is_pass) as n_passes_observed
        from staging.rollouts
        inner join staging.run_benchmarks using (run_id)
        group by all
    ) as totals using (benchmark)
)
select
    benchmark,
    row_number() over (
        partition by benchmark
        order by
            case
                when reason in ('ungraded', 'key') then 1
                when kind = 'limit' and reason = 'counted' then 4
                when starts_with(look_at, 'harness') and kind <> 'answer' then 2
                else 3
            end,
            n_failures desc,
            mode
    ) as rank,
    mode,
    reason,
    look_at,
    n_failures,
    n_failures_observed,
    is_of_some,
    is_graded,
    n_passes,
    n_passes_observed,
    n_tasks,
    n_never_tasks,
    only_key,
    n_only_key_tasks,
    coalesce(top_runs, []) as top_runs,
    coalesce(top_tasks, []) as top_tasks,
    citations,
    failing_citations,
    passing_citation,
    -- The count that a rerun should move.
    'fewer than ' || n_failures || ' of ' || n_failures_observed as would_show
from every
