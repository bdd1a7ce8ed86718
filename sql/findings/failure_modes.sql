-- How often failures bear each mode, and passes beside them; where run_id is null, over all runs.
-- A mode with a parent is a part of it; one that is not listed repeats the score.
-- grain: benchmark, run_id, mode, parent
-- looks at: run
-- kind: table
-- needs: staging.modes | staging.attempt_modes | main.rollout_modes
with listed as (
    select
        benchmark,
        mode,
        reason,
        rank,
        kind,
        name,
        value,
        parent,
        members,
        p_adjusted
    from staging.modes
    where reason not in ('same as score', 'part of score', 'measure')
    union all by name
    select distinct
        benchmark,
        mode,
        reason,
        rank,
        kind
    from staging.attempt_modes
    where rank = 0
    union all by name
    select distinct
        benchmark,
        part as mode,
        'part' as reason,
        kind,
        mode as parent
    from staging.attempt_modes
    where part is not null
    union all by name
    select distinct
        benchmark,
        'no shared sign' as mode,
        'none' as reason,
        'none' as kind
    from main.rollout_modes
    inner join staging.run_benchmarks using (run_id)
    where mode = 'no shared sign'
),
attempts as (
    select
        benchmark,
        run_id,
        task_id,
        rollout_index,
        is_recorded,
        is_scored,
        coalesce(is_pass, false) as is_pass,
        coalesce(not is_pass, not is_scored) as is_failure,
        -- What never ran, or left no turn in a run that records them, shows nothing of what it did.
        coalesce(ungraded.is_begun, true)
        and (rollouts.n_turns is not null or max(rollouts.n_turns) over (partition by run_id) is null) as is_seen
    from staging.attempts
    inner join staging.run_benchmarks using (run_id)
    left join (
        select
            record_id,
            n_turns
        from staging.rollouts
    ) as rollouts using (record_id)
    left join staging.ungraded using (record_id)
    where not is_never_run
),
totals as (
    select
        benchmark,
        run_id,
        count(*) filter (where is_failure) as n_failed,
        count(*) filter (where is_failure and is_seen) as n_failed_seen,
        count(*) filter (where is_failure and is_scored) as n_graded_failed,
        count(*) filter (where is_failure and is_scored and is_seen) as n_graded_failed_seen,
        count(*) filter (where is_pass) as n_passed
    from attempts
    group by benchmark, run_id
),
-- Attempts with a mode, and with a part of one.
bearing as (
    select
        benchmark,
        mode,
        null as parent,
        run_id,
        task_id,
        rollout_index,
        seq
    from staging.attempt_modes
    union all
    select
        benchmark,
        part as mode,
        mode as parent,
        run_id,
        task_id,
        rollout_index,
        seq
    from staging.attempt_modes
    where part is not null
    union all
    select
        listed.benchmark,
        listed.mode,
        listed.parent,
        run_id,
        task_id,
        rollout_index,
        signs.seq
    from listed
    inner join staging.run_benchmarks using (benchmark)
    inner join staging.signs using (run_id, kind, name, value)
    left join (select distinct benchmark, mode as parent, run_id, task_id, rollout_index from staging.attempt_modes)
        as within using (benchmark, parent, run_id, task_id, rollout_index)
    where listed.parent is not null and (listed.reason = 'terminal' or within.run_id is not null)
    union all
    select
        run_benchmarks.benchmark,
        mode,
        null as parent,
        run_id,
        task_id,
        rollout_index,
        null as seq
    from main.rollout_modes
    inner join staging.run_benchmarks using (run_id)
    where mode = 'no shared sign'
),
primaries as (
    select
        run_id,
        mode,
        count(*) as n_primary
    from main.rollout_modes
    semi join attempts using (run_id, task_id, rollout_index)
    where is_primary
    group by all
),
-- Which attempts count as observed: of a check or a field those that have it; of calls all of runs that record any; else all.
known_checks as (
    select
        benchmark,
        check_sign(source, check_name) as name,
        run_id,
        count(*) filter (where not coalesce(is_pass, false)) as n_failed,
        count(*) filter (where is_pass) as n_passed
    from main.checks
    inner join staging.rollouts using (run_id, task_id, rollout_index)
    inner join staging.run_benchmarks using (run_id)
    where (benchmark, check_sign(source, check_name)) in (select benchmark, name from listed where kind = 'check')
    group by all
),
recording as (
    select distinct
        run_id,
        task_id,
        rollout_index,
        'field' as kind,
        if(entries.key <> '', entries.parent, entries.path) as name
    from staging.entries
    inner join staging.rollouts using (record_id)
    where if(entries.key <> '', entries.parent, entries.path) in (select name from listed where kind = 'field')
    union
    select distinct
        run_id,
        task_id,
        rollout_index,
        kind,
        name
    from staging.signs
    where kind = 'field' and name in (select name from listed where kind = 'field')
    union
    select distinct
        run_id,
        task_id,
        rollout_index,
        'expected' as kind,
        '' as name
    from main.expected_calls
),
-- Where hardly a pass has a field, its presence is the sign: then all attempts of the runs that have it count.
known_attempts as (
    select
        benchmark,
        run_id,
        kind,
        name,
        count(*) filter (where is_failure) as n_failed,
        count(*) filter (where is_failure and is_scored) as n_graded_failed,
        count(*) filter (where is_pass) as n_passed,
        kind = 'field'
        and sum(count(*) filter (where is_pass)) over of_name > 0
        and 10 * sum(count(*) filter (where is_pass)) over of_name >= sum(totals.n_passed) over of_name
            as is_of_attempts
    from recording
    inner join attempts using (run_id, task_id, rollout_index)
    inner join totals using (benchmark, run_id)
    group by benchmark, run_id, kind, name, totals.n_passed
    window of_name as (partition by benchmark, kind, name)
    union all by name
    select distinct
        benchmark,
        run_id,
        'call' as kind,
        name,
        false as is_of_attempts
    from staging.signs
    inner join staging.run_benchmarks using (run_id)
    where kind = 'call'
),
-- Of modes that graded attempts alone have, graded failures count; a field of ends has words for all attempts.
of_ungraded as (
    select distinct
        benchmark,
        mode,
        parent
    from bearing
    inner join attempts using (benchmark, run_id, task_id, rollout_index)
    where is_failure and not is_scored
),
counted as (
    select
        listed.*,
        totals.run_id,
        listed.reason in ('ungraded', 'terminal', 'none') or of_ungraded.mode is not null as has_ungraded,
        case
            when listed.kind = 'check' then coalesce(known_checks.n_failed, 0)
            when listed.kind in ('field', 'expected', 'call') and known_attempts.run_id is null then 0
            when known_attempts.is_of_attempts and listed.reason <> 'terminal'
                then if(has_ungraded, known_attempts.n_failed, known_attempts.n_graded_failed)
            -- A limit is recorded, also of attempts that show nothing of what they did.
            when listed.kind in ('answer', 'call', 'expected')
                then if(has_ungraded, totals.n_failed_seen, totals.n_graded_failed_seen)
            else if(has_ungraded, totals.n_failed, totals.n_graded_failed)
        end as n_failures_observed,
        case
            when listed.kind = 'check' then coalesce(known_checks.n_passed, 0)
            when listed.kind in ('field', 'expected', 'call') and known_attempts.run_id is null then 0
            when known_attempts.is_of_attempts and listed.reason <> 'terminal' then known_attempts.n_passed
            else totals.n_passed
        end as n_passes_observed,
        totals.n_failed as n_all_failures,
        totals.n_graded_failed as n_graded_failures,
        totals.n_passed as n_all_passes,
        coalesce(
            not known_attempts.is_of_attempts
            and (listed.kind = 'field' or totals.n_failed_seen = totals.n_failed),
            false
        ) as is_of_runs
    from listed
    inner join totals using (benchmark)
    left join of_ungraded
        on of_ungraded.benchmark = listed.benchmark
        and of_ungraded.mode = listed.mode
        and of_ungraded.parent is not distinct from listed.parent
    left join known_checks
        on known_checks.benchmark = listed.benchmark
        and known_checks.name = listed.name
        and known_checks.run_id = totals.run_id
    left join known_attempts
        on known_attempts.run_id = totals.run_id
        and known_attempts.kind = listed.kind
        and known_attempts.name = if(listed.kind in ('field', 'call'), listed.name, '')
),
-- What ended most attempts without a grade: where it is known, no verifier was reached.
endings as (
    select
        benchmark,
        mode,
        case
            when 2 * count(*) filter (where ended_by = 'limit' and passed_limits.benchmark is null) > count(*)
                then 'limit that ended the attempts'
            when 2 * count(*) filter (where ended_by = 'error') > count(*) then 'recorded error'
        end as look_at
    from staging.attempt_modes
    -- Where most attempts that run into a limit are graded, it is something else.
    left join (
        select benchmark
        from staging.rollouts
        inner join staging.run_benchmarks using (run_id)
        where limit_reached is not null
        group by benchmark
        having 2 * count(*) filter (where is_scored) > count(*)
    ) as passed_limits using (benchmark)
    where reason = 'ungraded'
    group by all
),
-- One attempt to open of each task, graded if one is, of the task with most of them first.
examples as (
    select
        benchmark,
        mode,
        parent,
        run_id,
        task_id,
        is_failure,
        is_pass,
        bool_or(is_scored) as is_scored,
        count(*) as n_rollouts,
        arg_min(
            if(is_recorded, run_id || '/' || task_id || ':' || rollout_index || coalesce('#' || seq, ''), null),
            (not is_scored, rollout_index)
        ) as citation
    from bearing
    inner join attempts using (benchmark, run_id, task_id, rollout_index)
    group by all
),
per_run as (
    select
        benchmark,
        mode,
        parent,
        run_id,
        cast(coalesce(sum(n_rollouts) filter (where is_failure), 0) as bigint) as n_failures,
        cast(coalesce(sum(n_rollouts) filter (where is_pass), 0) as bigint) as n_passes,
        min_by(citation, (not is_scored, -n_rollouts, task_id), 3) filter (where is_failure and citation is not null)
            as failing,
        arg_min(citation, (-n_rollouts, task_id)) filter (where is_pass) as passing
    from examples
    group by all
),
-- The tasks with most of these failures, each with how many: of a run, and of all runs together.
most_failing as (
    select
        benchmark,
        mode,
        parent,
        run_id,
        count(*) as n_tasks,
        min_by(task_id || ' (' || n || ')', (-n, task_id), 5) as top_tasks
    from (
        select
            benchmark,
            mode,
            parent,
            run_id,
            task_id,
            cast(sum(n_rollouts) as bigint) as n
        from examples
        where is_failure
        group by grouping sets (
            (benchmark, mode, parent, run_id, task_id),
            (benchmark, mode, parent, task_id)
        )
    )
    group by all
),
rows_of_runs as (
    select
        -- A part is counted within its mode.
        counted.* replace (
            if(counted.reason = 'part', coalesce(whole.n_failures, 0), n_failures_observed) as n_failures_observed,
            if(counted.reason = 'part', coalesce(whole.n_passes, 0), n_passes_observed) as n_passes_observed
        ),
        coalesce(per_run.n_failures, 0) as n_failures,
        coalesce(per_run.n_passes, 0) as n_passes,
        coalesce(primaries.n_primary, 0) as n_primary,
        coalesce(per_run.failing, []) as failing,
        per_run.passing
    from counted
    left join per_run
        on per_run.benchmark = counted.benchmark
        and per_run.mode = counted.mode
        and per_run.parent is not distinct from counted.parent
        and per_run.run_id = counted.run_id
    left join per_run as whole
        on whole.benchmark = counted.benchmark
        and whole.mode = counted.parent
        and whole.parent is null
        and whole.run_id = counted.run_id
    left join primaries
        on primaries.run_id = counted.run_id
        and primaries.mode = counted.mode
        and counted.parent is null
),
rows_of_benchmarks as (
    select
        benchmark,
        mode,
        any_value(reason) as reason,
        any_value(rank) as rank,
        any_value(kind) as kind,
        any_value(name) as name,
        any_value(value) as value,
        parent,
        any_value(members) as members,
        any_value(p_adjusted) as p_adjusted,
        cast(null as varchar) as run_id,
        cast(sum(n_failures_observed) as bigint) as n_failures_observed,
        cast(sum(n_passes_observed) as bigint) as n_passes_observed,
        cast(sum(n_all_failures) as bigint) as n_all_failures,
        cast(sum(n_graded_failures) as bigint) as n_graded_failures,
        cast(sum(n_all_passes) as bigint) as n_all_passes,
        bool_or(is_of_runs) as is_of_runs,
        bool_or(has_ungraded) as has_ungraded,
        cast(sum(n_failures) as bigint) as n_failures,
        cast(sum(n_passes) as bigint) as n_passes,
        cast(sum(n_primary) as bigint) as n_primary,
        flatten(list(failing order by n_failures desc, run_id))[:3] as failing,
        arg_min(passing, (-n_passes, run_id)) as passing
    from rows_of_runs
    group by benchmark, mode, parent
),
every as (
    from rows_of_runs
    union all by name
    from rows_of_benchmarks
)
select
    every.benchmark,
    every.run_id,
    every.mode,
    every.parent,
    kind,
    reason,
    n_failures,
    n_failures_observed,
    n_passes,
    n_passes_observed,
    coalesce(n_tasks, 0) as n_tasks,
    n_primary,
    n_failures / nullif(n_failures_observed, 0) as share_of_failures,
    n_passes / nullif(n_passes_observed, 0) as share_of_passes,
    n_primary / nullif(n_all_failures, 0) as share_primary,
    n_all_failures,
    -- Not all attempts record it.
    reason <> 'part'
    and (
        n_failures_observed < if(has_ungraded, n_all_failures, n_graded_failures)
        or n_passes_observed < n_all_passes
    ) as is_of_some,
    is_of_some and is_of_runs as is_of_runs,
    -- Some that count as failures here have no grade.
    has_ungraded and n_failures_observed > n_graded_failures as has_ungraded,
    -- Where no attempt has a grade, none is known to have failed.
    every.benchmark in (select benchmark from attempts where is_scored) as has_grades,
    p_adjusted,
    -- Attempts without a row come first.
    case
        when rank is not null then rank + if(
            every.benchmark in (select benchmark from listed where rank = 0), 1, 0
        )
    end as rank,
    rank is not null as is_told,
    case
        when every.mode = 'no row recorded' then 'harness'
        when reason = 'ungraded' then coalesce(endings.look_at, 'verifier or harness')
        when kind = 'limit' then 'harness or model'
        -- A field of how attempts ended; what else has a word of each (a grade, a category) blames nobody.
        when reason = 'terminal' and is_end_name(name) then 'harness'
        when kind = 'answer' and starts_with(value, 'equals the key') then 'verifier or prompt'
        when kind = 'error' and name = 'reply' then 'environment, prompt or training'
        -- Readers of other formats put the harness's own error there; any other text may be of the attempt's work.
        when kind = 'error' and name in ('error_message', 'exception_type') then 'harness or verifier'
        when kind = 'error' and name = 'patch_error' then 'prompt or training'
        when kind = 'error' and name = 'tool result' then 'tool, prompt or training'
        when kind = 'answer' and value = 'was not extracted' then 'prompt, training or verifier'
        when kind = 'answer' and regexp_matches(value, '^is (empty|missing|given)') then 'harness, prompt or training'
        when kind in ('expected', 'call', 'answer') then 'prompt or training'
        when kind = 'explanation' then 'verifier'
        when kind = 'profile' then 'profile'
    end as look_at,
    coalesce(members, []) as members,
    coalesce(top_tasks, []) as top_tasks,
    list_concat(failing, if(passing is null, [], [passing])) as citations,
    failing as failing_citations,
    passing as passing_citation
from every
left join endings
    on endings.benchmark = every.benchmark
    and endings.mode = every.mode
left join most_failing
    on most_failing.benchmark = every.benchmark
    and most_failing.mode = every.mode
    and most_failing.parent is not distinct from every.parent
    and most_failing.run_id is not distinct from every.run_id
