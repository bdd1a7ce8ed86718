-- What to look into first: one per mode over all runs, and keys that every attempt contradicts alike.
-- What makes the score itself wrong, limits and errors of the harness, then modes by the failures that
-- they cover.
-- grain: benchmark, rank
-- looks at: run
-- kind: table
-- needs: main.failure_modes where n_failures_observed >= 5 or reason in ('ungraded', 'profile', 'recorded') | staging.answers
with recursive
-- What passes at the same tasks say about as often as the failures that say it goes with the task.
usual_values as (
    select
        benchmark,
        mode
    from (
        select
            listed.benchmark,
            listed.mode,
            task_id,
            count(*) filter (where rollouts.is_pass) as n_passes,
            count(*) filter (where not rollouts.is_pass) as n_failures,
            count(bearing.mode) filter (where rollouts.is_pass) as n_passes_with,
            count(bearing.mode) filter (where not rollouts.is_pass) as n_failures_with
        from (from staging.modes where kind = 'field' and rank is not null and parent is null) as listed
        inner join staging.run_benchmarks using (benchmark)
        inner join staging.rollouts using (run_id)
        left join staging.attempt_modes as bearing using (benchmark, mode, run_id, task_id, rollout_index)
        where rollouts.is_pass is not null
        group by all
    )
    where n_passes > 0 and n_failures_with > 0
    group by benchmark, mode
    having 2 * sum(n_passes_with) * sum(n_failures) >= sum(n_failures_with) * sum(n_passes)
),
modes as (
    select
        failure_modes.* exclude (run_id, top_tasks),
        -- The few of many tasks that have most of these failures.
        if(
            tasks.n_all_tasks > 3
            and regexp_extract(failure_modes.top_tasks[1], '(\d+)\)$', 1)::bigint > 1
            and list_sum(list_transform(
                failure_modes.top_tasks[:3], lambda task: regexp_extract(task, '(\d+)\)$', 1)::bigint
            )) >= 0.75 * n_failures,
            failure_modes.top_tasks[:3],
            []
        ) as top_tasks,
        -- The one or two of several runs that have most of these failures.
        case
            when runs.counts[1] >= 0.75 * n_failures then runs.names[:1]
            when len(runs.counts) > 2 and runs.counts[1] + runs.counts[2] >= 0.75 * n_failures then runs.names[:2]
        end as top_runs,
        coalesce(list_sum(runs.counts[:len(top_runs)]) < n_failures, false) as has_other_runs
    from main.failure_modes
    left join (
        select
            benchmark,
            mode,
            list(n_failures order by n_failures desc, run_id) as counts,
            list(alias || ' (' || n_failures || ')' order by n_failures desc, run_id) as names
        from main.failure_modes
        inner join (select run_id, alias from main.runs) as named using (run_id)
        where run_id is not null and parent is null
        group by all
        having count(*) > 1
    ) as runs using (benchmark, mode)
    inner join (select benchmark, count(*) as n_all_tasks from staging.tasks group by all) as tasks using (benchmark)
    where
        run_id is null
        and parent is null
        and is_told
        and reason <> 'behaviour'
        -- One or two of many failures are no pattern.
        and (n_failures > 2 or 10 * n_failures > n_all_failures)
        -- Nor is a value that few of the failures have.
        and (
            20 * n_failures >= n_failures_observed
            or reason <> 'tested'
            or kind not in ('field', 'answer')
            or regexp_matches(mode, '^answer (is (empty|missing|given)|was|has|begins|ends|equals) ?')
        )
        -- Of fewer than five failures each is read anyway.
        and (n_failures > 1 and n_failures_observed >= 5 or reason in ('ungraded', 'profile', 'recorded'))
        and (benchmark, mode) not in (from usual_values)
),
-- Tasks that no attempt passes, where every attempt has a short answer to set beside a key.
answered as (
    select
        benchmark,
        task_id,
        count(*) as n_attempts,
        count(distinct comparable(answers.answer)) as n_answers,
        count(distinct coalesce(records.model, runs.model)) as n_models,
        bool_or(is_pass) as is_solved,
        bool_and(
            length(answers.answer) <= 80
            and comparable(answers.answer) <> comparable(answers.key)
        ) and count(answers.key) = count(*) as is_wrong,
        min(answers.key) as key,
        arg_min(run_id || '/' || task_id || ':' || rollout_index, (run_id, rollout_index)) as citation
    from staging.rollouts
    inner join staging.run_benchmarks using (run_id)
    inner join (select record_id, model from staging.records) as records using (record_id)
    inner join (select run_id, model from main.runs) as runs using (run_id)
    left join staging.answers using (record_id)
    where is_scored
    group by all
),
-- One model may repeat its own mistake, which says nothing about the key; unless all tasks have the same one.
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
    having len(alike) > 0 and (only_key is not null or bool_or(n_models > 1))
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
        false as is_of_runs,
        false as has_ungraded,
        true as has_grades,
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
),
ordered as (
    select
        *,
        row_number() over (
            partition by benchmark
            order by
                case
                    when reason in ('ungraded', 'key') then 1
                    when kind = 'limit' and reason = 'counted' then 4
                    when starts_with(look_at, 'harness') and (kind <> 'answer' or starts_with(mode, 'answer is given at several tasks')) then 2
                    else 3
                end,
                n_failures desc,
                mode
        ) as place
    from every
),
failing as (
    select
        *,
        count(*) over (partition by benchmark, mode) as n
    from (select benchmark, mode, run_id, task_id, rollout_index from staging.attempt_modes where is_failure)
),
-- Modes that nearly the same failures have, or of which all are failures of the other.
repeating as (
    select
        benchmark,
        mode,
        list(other) as others
    from (
        select
            failing.benchmark,
            failing.mode,
            others.mode as other
        from failing
        inner join failing as others using (benchmark, run_id, task_id, rollout_index)
        where failing.mode <> others.mode
        group by failing.benchmark, failing.mode, others.mode, failing.n, others.n
        having count(*) >= 0.9 * least(failing.n, others.n) and 2 * count(*) >= failing.n
    )
    group by all
),
-- One by one, without those that say again of the same failures.
chosen (benchmark, place, listed) as (
    select
        benchmark,
        place,
        [mode] as listed
    from ordered
    where place = 1
    union all
    select
        ordered.benchmark,
        ordered.place,
        if(
            len(list_intersect(chosen.listed, coalesce(repeating.others, []))) > 0,
            chosen.listed,
            list_append(chosen.listed, ordered.mode)
        ) as listed
    from chosen
    inner join ordered on ordered.benchmark = chosen.benchmark and ordered.place = chosen.place + 1
    left join repeating on repeating.benchmark = ordered.benchmark and repeating.mode = ordered.mode
)
select
    benchmark,
    row_number() over (partition by benchmark order by place) as rank,
    mode,
    reason,
    look_at,
    n_failures,
    n_failures_observed,
    is_of_some,
    is_of_runs,
    has_ungraded,
    has_grades,
    n_passes,
    n_passes_observed,
    n_tasks,
    n_never_tasks,
    only_key,
    n_only_key_tasks,
    coalesce(top_runs, []) as top_runs,
    coalesce(has_other_runs, false) as has_other_runs,
    coalesce(top_tasks, []) as top_tasks,
    citations,
    failing_citations,
    passing_citation,
    benchmark in (
        select run_benchmarks.benchmark
        from staging.rollouts
        inner join staging.run_benchmarks using (run_id)
        where n_events > 0
    ) as has_transcripts,
    -- The count that a rerun should move.
    'fewer than ' || n_failures || ' of ' || n_failures_observed as would_show
from ordered
semi join (select benchmark, unnest(listed) as mode from chosen) as kept using (benchmark, mode)
