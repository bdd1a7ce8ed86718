-- What the owner of a benchmark should hear, five at most.
-- Modes with failures and passes beside each other, what the failures of one run alone show, what goes
-- with a low reward, tasks that nobody passes, tasks that one run always fails on one check, near misses;
-- first of all runs whose rows are the same to the byte, since other counts hold them several times.
-- grain: benchmark, finding_no
-- looks at: run
-- kind: table
-- needs: staging.rollouts where is_pass is distinct from true or not is_scored | main.failure_modes | main.health_findings | main.expected_calls | main.run_contrasts | main.reward_contrasts | main.mode_slices | staging.run_settings where name in ('log_status', 'log_error', 'grader') | (select sha256 from raw.files group by sha256 having count(*) > 1)
with modes as (
    select
        benchmark,
        'mode' as kind,
        mode,
        other_values,
        reason,
        n_failures,
        n_failures_observed,
        n_passes,
        n_passes_observed,
        is_of_some,
        is_of_runs,
        has_ungraded,
        n_tasks,
        citations[1] as citation,
        top_tasks,
        row_number() over (partition by benchmark, reason = 'behaviour' order by rank, mode) as nth,
        -- Modes, then what tasks have in common, then behaviours.
        -- A few attempts without a grade do not lead, nor does what few of the failures have.
        case
            when reason = 'behaviour' then 30
            when reason = 'tested' and 20 * n_failures < n_failures_observed then 24
            when reason in ('ungraded', 'recorded') and (n_failures = 1 or 20 * n_failures < n_all_failures) then 23
            else 0
        end + nth as place
    from (
        select
            *,
            -- The values of one field are one finding.
            list(regexp_extract(mode, ' = (.*)$', 1) || ' (' || n_failures || ')') over (
                of_field rows between 1 following and unbounded following
            ) as other_values,
            row_number() over of_field as nth_of_field
        from main.failure_modes
        window of_field as (
            partition by
                benchmark,
                run_id,
                parent,
                reason,
                if(kind = 'field' and reason = 'tested', coalesce(nullif(regexp_extract(mode, '^(.*) = ', 1), ''), mode), mode)
            order by rank, mode
        )
    )
    where
        nth_of_field = 1
        and run_id is null
        and parent is null
        and is_told
        and n_failures > 0
        -- Of fewer than five failures each is listed; what they share is no pattern, nor is what one has.
        and (n_failures > 1 and n_failures_observed >= 5 or reason in ('ungraded', 'profile', 'recorded'))
        -- How attempts end that have no grade is listed with these.
        and not (reason = 'terminal' and (benchmark, mode) in (
            select
                benchmark,
                mode
            from staging.attempt_modes
            inner join staging.rollouts using (run_id, task_id, rollout_index)
            left join staging.ungraded using (record_id)
            where is_failure
            group by all
            having count(ungraded.record_id) >= 0.9 * count(*)
        ))
    qualify nth <= if(reason = 'behaviour', 2, 4)
),
attempts as (
    select
        benchmark,
        count(*) filter (where not is_pass) as n_failures_observed,
        count(*) filter (where is_pass) as n_passes_observed
    from staging.rollouts
    inner join staging.run_benchmarks using (run_id)
    where is_pass is not null
    group by all
),
-- Hard or broken: nobody is accused.
never as (
    select
        benchmark,
        'never' as kind,
        sum(tried.n_attempts) filter (where is_never) as n_failures,
        sum(n_ungraded) filter (where is_never) as n_attempts,
        -- Where all of these are graded, graded failures count.
        if(
            sum(n_ungraded) filter (where is_never) > 0,
            any_value(totals.n_failures_observed),
            any_value(totals.n_graded_failures)
        ) as n_failures_observed,
        count(*) filter (where is_never) as n_tasks,
        count(*) filter (where is_repeated) as n_all_tasks,
        count(*) > count(*) filter (where is_repeated) as is_of_some,
        count(*) filter (where is_never and n_not_run > 0) as n_not_run_tasks,
        min_by(task_id, (-tried.n_attempts, try_cast(task_id as bigint), task_id), 3) filter (where is_never) as top_tasks,
        -- How many would pass in no attempt if all tasks were alike.
        sum(pow(1 - totals.pass_rate, n_graded)) filter (where is_repeated) as n_by_chance,
        -- Where they hold a quarter of the failures, only one mode comes first.
        if(4 * n_failures >= any_value(totals.n_failures_observed), 1, 20) as place
    from (
        select
            benchmark,
            task_id,
            count(*) as n_attempts,
            count(ungraded.record_id) as n_ungraded,
            count(*) filter (where is_pass) as n_passed,
            count(*) filter (where not ungraded.is_begun) as n_not_run,
            -- An attempt without a grade says nothing of the task.
            -- Copies of one attempt are one.
            count(*) filter (where ungraded.record_id is null and copies.run_id is null) as n_graded,
            n_graded > 1 as is_repeated,
            is_repeated and n_passed = 0 as is_never
        from staging.rollouts
        inner join staging.run_benchmarks using (run_id)
        left join staging.ungraded using (record_id)
        left join (
            select distinct run_id
            from staging.copied_runs
            where run_id <> first_run and kind <> 'other_grades'
        ) as copies using (run_id)
        where is_pass is not null or not is_scored
        group by all
    ) as tried
    inner join (
        select
            benchmark,
            count(*) filter (where coalesce(not is_pass, not is_scored)) as n_failures_observed,
            count(*) filter (where not is_pass) as n_graded_failures,
            count(*) filter (where is_pass) / nullif(count(is_pass), 0) as pass_rate
        from staging.attempts
        inner join staging.run_benchmarks using (run_id)
        where not is_never_run
        group by all
    ) as totals using (benchmark)
    group by benchmark
    -- Of one attempt at a task, all that is known is that it fails.
    having
        count(*) filter (where is_repeated) > count(*) filter (where is_never)
        and count(*) filter (where is_never) > 1
        and count(*) filter (where is_repeated) >= 5
        -- Where hardly anything passes, most tasks never do.
        and count(*) filter (where is_never) >= 1.2 * n_by_chance
),
-- Runs that did not end with success, with the error that their logs record: the two errors that most runs
-- have, each with the run that lacks most.
ended as (
    select
        benchmark,
        'ended' as kind,
        mode,
        arg_min(run_id, (n_recorded - n_expected, run_id)) as run_id,
        list(run_id order by n_recorded - n_expected, run_id)[2:] as other_runs,
        arg_min(n_recorded, (n_recorded - n_expected, run_id)) as n_attempts,
        arg_min(n_expected, (n_recorded - n_expected, run_id)) as n_all_attempts,
        -- An error comes before what is counted of the attempts that it left.
        if(starts_with(mode, 'log_status = '), 17, 0) as place
    from (
        select
            benchmark,
            run_id,
            coalesce(
                max(value) filter (where name = 'log_error'),
                'log_status = ' || max(value) filter (where name = 'log_status')
            ) as mode
        from staging.run_settings
        inner join staging.run_benchmarks using (run_id)
        where name in ('log_status', 'log_error')
        group by all
    )
    left join (
        select
            run_id,
            count(*) filter (where is_recorded) as n_recorded,
            -- Where nothing was expected, all that is recorded.
            count(*) as n_expected
        from staging.attempts
        group by all
    ) using (run_id)
    where mode is not null
    group by benchmark, mode
    qualify row_number() over (partition by benchmark order by place, count(*) desc, n_attempts - n_all_attempts, mode) <= 2
),
-- Grades that are words: what the verifier gave, which no figure counts.
worded as (
    select
        benchmark,
        'grades' as kind,
        array_to_string(list(grade || ' (' || n || ')' order by n desc, grade)[:5], ', ') as mode,
        sum(n) as n_attempts,
        any_value(n_recorded) as n_all_attempts,
        0 as place
    from (
        select
            benchmark,
            left(value, 40) as grade,
            count(*) as n
        from staging.entries
        inner join staging.rollouts using (record_id)
        inner join staging.run_benchmarks using (run_id)
        where is_word_grade(path, item_no, entries.kind) and not is_scored
        group by all
    )
    inner join (
        select
            benchmark,
            count(*) as n_recorded
        from staging.rollouts
        inner join staging.run_benchmarks using (run_id)
        group by all
    ) using (benchmark)
    group by benchmark
),
-- Runs that are one sample: a copy, a model that was asked twice at temperature 0, or a setting that does nothing.
copies as (
    select
        benchmark,
        kind,
        first_run as run_id,
        (list(run_id order by run_id) filter (where run_id <> first_run))[:3] as other_runs,
        -- Parts of a run have each their own size.
        if(
            kind = 'part',
            sum(n_attempts) filter (where run_id <> first_run),
            any_value(n_attempts)
        ) as n_attempts,
        sum(n_attempts) as n_all_attempts,
        count(*) - 1 as n_tasks,
        -2 as place
    from staging.copied_runs
    where kind = 'copies' or benchmark not in (select benchmark from staging.copied_runs where kind = 'copies')
    group by benchmark, kind, first_run
    -- That a smoke test of few rows was run again whole is nothing to tell.
    having kind <> 'part' or sum(n_attempts) filter (where run_id <> first_run) >= 5
    qualify row_number() over (
        partition by benchmark, kind = 'other_grades' order by n_all_attempts desc, first_run
    ) = 1
),
-- Failures whose answer is the key, where that decides nearly all others: the verdict may be wrong.
keyed as (
    select
        benchmark,
        'keyed' as kind,
        count(*) filter (where not is_pass) as n_failures,
        count(*) as n_attempts,
        arg_min(answers.key, (length(answers.key), answers.key)) filter (where not is_pass) as mode,
        arg_min(run_id || '/' || task_id || ':' || rollout_index, (run_id, task_id, rollout_index))
            filter (where not is_pass) as citation,
        -1 as place
    from staging.answers
    inner join staging.rollouts using (record_id)
    inner join staging.run_benchmarks using (run_id)
    where is_pass is not null and comparable(answers.answer) = comparable(answers.key)
    group by benchmark
    having n_failures > 0 and n_attempts >= 10 and 20 * n_failures <= n_attempts
),
-- Failures whose answer is the key or has it among its words, as that of most passes of their run: the
-- verdict missed it, or goes by more.
naming_runs as (
    select
        benchmark,
        run_id,
        count(*) filter (where not is_pass and is_named) as n_failures,
        count(*) filter (where not is_pass) as n_failures_observed,
        count(*) filter (where is_pass and is_named) as n_passes,
        count(*) filter (where is_pass) as n_passes_observed,
        arg_min({'task_id': task_id, 'rollout_index': rollout_index, 'key': key}, (task_id, rollout_index))
            filter (where not is_pass and is_named) as example
    from (
        select
            *,
            coalesce(
                comparable(answers.answer) = comparable(answers.key) or names_key(answers.answer, answers.key), false
            ) as is_named
        from staging.answers
        inner join staging.rollouts using (record_id)
        inner join staging.run_benchmarks using (run_id)
        where is_pass is not null and length(answers.key) <= 80
        -- One word or another at all tasks is what is looked for, and no answer to a question.
        qualify count(distinct key) over (partition by benchmark) > 2
    )
    group by all
    having
        n_failures > 0
        and n_passes / nullif(n_passes_observed, 0) >= greatest(0.5, n_failures / n_failures_observed)
),
names_key as (
    select
        benchmark,
        'names_key' as kind,
        sum(n_failures) as n_failures,
        sum(n_failures_observed) as n_failures_observed,
        cast(sum(n_passes) as bigint) as n_passes,
        cast(sum(n_passes_observed) as bigint) as n_passes_observed,
        if(count(*) < any_value(n_runs), min(run_id), null) as run_id,
        list(run_id order by run_id)[2:] as other_runs,
        count(*) < any_value(n_runs) as is_of_runs,
        arg_min(example.key, run_id) as mode,
        arg_min(run_id || '/' || example.task_id || ':' || example.rollout_index, run_id) as citation,
        if(4 * sum(n_failures) >= sum(n_failures_observed), -1, 12) as place
    from naming_runs
    inner join (
        select
            benchmark,
            count(*) as n_runs
        from staging.run_benchmarks
        group by all
    ) using (benchmark)
    group by benchmark
    having sum(n_failures) >= 3 and 10 * sum(n_failures) >= sum(n_failures_observed)
),
-- Passes that make none of the changes that their tasks expect, or of the calls where nothing says which of
-- them change something: either other ways lead there, or nobody looks.
unmade as (
    select
        benchmark,
        'unmade' as kind,
        if(bool_or(is_change), 'change', 'call') as reason,
        count(*) filter (where is_unmade) as n_passes,
        count(*) as n_passes_observed,
        -- The run that has most of them, where there are others.
        if(
            count(distinct run_id) > 1 and 4 * max(n_of_run) >= 3 * count(*) filter (where is_unmade),
            arg_max(run_id, (n_of_run, run_id)),
            null
        ) as run_id,
        max(n_of_run) as n_attempts,
        arg_min(run_id || '/' || task_id || ':' || rollout_index, (-n_of_run, run_id, task_id, rollout_index))
            filter (where is_unmade) as citation,
        if(10 * count(*) filter (where is_unmade) >= count(*), -1, 16) as place
    from (
        select
            *,
            count(if(is_unmade, 1, null)) over (partition by benchmark, run_id) as n_of_run
        from (
            select
                benchmark,
                run_id,
                task_id,
                rollout_index,
                bool_and(expected_calls.status = 'never') as is_unmade,
                bool_or(is_write) as is_change
            from main.expected_calls
            inner join staging.rollouts using (run_id, task_id, rollout_index)
            inner join staging.run_benchmarks using (run_id)
            where is_pass and expected_no is not null and coalesce(is_write, true)
            group by all
        )
    )
    group by benchmark
    having count(*) >= 5 and count(*) filter (where is_unmade) >= 3 and 20 * count(*) filter (where is_unmade) >= count(*)
),
-- A field that should differ from task to task, and does in another run.
constant as (
    select
        benchmark,
        'constant' as kind,
        subject || ' = ' || arg_min(evidence, health_findings.run_id) as mode,
        min(health_findings.run_id) as run_id,
        list(health_findings.run_id order by health_findings.run_id)[2:] as other_runs,
        -1 as place
    from main.health_findings
    inner join staging.run_benchmarks using (run_id)
    where check_id = 'run_constant_field'
    group by benchmark, subject
    qualify row_number() over (partition by benchmark order by count(*) desc, subject) = 1
),
-- Runs that several graders scored: what differs between them may be the graders' doing.
graded_by as (
    select
        benchmark,
        'graders' as kind,
        if(bool_and(grader is not distinct from model), 'own', null) as reason,
        array_to_string(list(distinct grader order by grader)[:3], ', ') as mode,
        count(*) as n_attempts,
        count(distinct grader) as n_all_attempts,
        -1 as place
    from (
        select
            benchmark,
            run_id,
            model,
            max(value) as grader
        from staging.run_settings
        inner join main.runs using (run_id)
        where name = 'grader'
        group by all
    )
    group by benchmark
    -- Of two runs the comparison says it.
    having count(*) > 2 and count(distinct grader) > 1
),
-- A key that is the same at all tasks, by the health checks of all runs.
one_key as (
    select
        benchmark,
        'key' as kind,
        any_value(key_path || ' = ' || left(key, 100)) as mode,
        count(*) as n_attempts,
        count(distinct task_id) as n_tasks,
        -1 as place
    from staging.answers
    inner join staging.rollouts using (record_id)
    inner join staging.run_benchmarks using (run_id)
    group by benchmark
    having
        count(distinct key) = 1
        -- A failure that gives the key shows that the verdict goes by something else.
        and count(*) filter (
            where
                not is_pass
                and (
                    comparable(answers.answer) = comparable(key)
                    or (length(key) > 1 and contains(lower(answers.answer), lower(key)))
                )
        ) = 0
        and benchmark in (
            select run_benchmarks.benchmark
            from main.health_findings
            inner join staging.run_benchmarks using (run_id)
            where check_id = 'run_constant_key'
        )
),
stuck as (
    select
        benchmark,
        'stuck' as kind,
        run_id,
        count(*) as n_tasks,
        arg_min(task_id, (-n_checks, task_id)) as example_task,
        arg_min(check_name, (-n_checks, task_id)) as mode,
        arg_min(citation, (-n_checks, task_id)) as citation,
        21 as place
    from main.stuck_checks
    inner join (
        select
            benchmark,
            count(*) as n_runs
        from staging.run_benchmarks
        group by benchmark
    ) using (benchmark)
    group by benchmark, run_id
    -- What most other runs never pass either singles out no run.
    having count(*) >= 2 and 2 * sum(n_passing_runs) >= sum(n_runs - 1)
    qualify row_number() over (partition by benchmark order by count(*) desc, run_id) = 1
),
-- Graded failures with several checks, of which exactly one fails: those that the reward is made of, where the
-- record says so.
verdicts as (
    select
        run_benchmarks.benchmark,
        run_id,
        task_id,
        rollout_index,
        -- Tests that pass before an attempt say nothing of how near it came (of SWE-bench).
        count(*) filter (where checks.source is distinct from 'PASS_TO_PASS') as n_checks,
        count(*) filter (where not is_passed) as n_failed,
        min(check_sign(checks.source, checks.check_name)) filter (where not is_passed) as failed_check,
        bool_and(coalesce(is_of_reward, false)) as are_of_reward
    from main.checks
    inner join staging.run_benchmarks using (run_id)
    inner join staging.rollouts using (run_id, task_id, rollout_index)
    -- What says the score again is none of several.
    left join staging.score_checks as scores
        on scores.benchmark = run_benchmarks.benchmark
        and scores.name = check_sign(checks.source, checks.check_name)
    where
        not is_pass
        and coalesce(is_of_reward, is_counted and scores.name is null)
        -- Where one check says what the score says, the others do not decide it.
        and (is_of_reward or run_benchmarks.benchmark not in (select benchmark from staging.score_checks))
    group by all
),
near as (
    select
        benchmark,
        'near' as kind,
        if(bool_and(are_of_reward), 'reward', null) as reason,
        count(*) filter (where n_failed = 1) as n_failures,
        count(*) as n_failures_observed,
        list_max(map_values(histogram(failed_check) filter (where n_failed = 1))) as n_with_commonest,
        -- The check that at least half of these fail, if it is one.
        if(
            n_with_commonest > 1 and 2 * n_with_commonest >= n_failures,
            mode(failed_check order by failed_check) filter (where n_failed = 1),
            null
        ) as mode,
        if(mode is null, null, n_with_commonest) as n_attempts,
        arg_min(run_id || '/' || task_id || ':' || rollout_index, (-n_checks, run_id, task_id, rollout_index))
            filter (where n_failed = 1) as citation,
        22 as place
    from verdicts
    inner join attempts using (benchmark)
    where n_checks > 1
    group by benchmark, attempts.n_failures_observed
    -- What few failures have is no finding about them all.
    having
        4 * count(*) >= attempts.n_failures_observed
        and count(*) >= 5
        and count(*) filter (where n_failed = 1) >= 3
        and 10 * count(*) filter (where n_failed = 1) >= count(*)
),
-- Checks in two or three groups, whose names differ from task to task: how far each group was met.
group_states as (
    select
        run_benchmarks.benchmark,
        run_id,
        task_id,
        rollout_index,
        checks.source,
        case
            when bool_and(is_passed) then 'all'
            when bool_or(is_passed) then 'some'
            else 'none'
        end as state
    from main.checks
    inner join staging.run_benchmarks using (run_id)
    inner join staging.rollouts using (run_id, task_id, rollout_index)
    -- Of a few dimensions, which are the score's own parts, there are better findings than how many are met.
    inner join (
        select
            benchmark,
            source
        from main.checks
        inner join staging.run_benchmarks using (run_id)
        group by all
        having count(distinct check_name) > 5
    ) as many_named using (benchmark, source)
    where
        not is_pass
        and source <> ''
    group by all
),
group_counts as (
    select
        benchmark,
        states,
        count(*) as n_failures,
        arg_min(citation, citation) as citation
    from (
        select
            benchmark,
            run_id || '/' || task_id || ':' || rollout_index as citation,
            array_to_string(list(state || ' of ' || source order by source), ' and ') as states
        from group_states
        group by all
        having count(*) in (2, 3)
    )
    group by all
),
check_groups as (
    select
        benchmark,
        'groups' as kind,
        arg_max(states, (group_counts.n_failures, states)) as mode,
        max(group_counts.n_failures) as n_failures,
        sum(group_counts.n_failures) as n_failures_observed,
        list(states || ' (' || group_counts.n_failures || ')' order by group_counts.n_failures desc, states desc)[2:3] as top_tasks,
        arg_max(citation, (group_counts.n_failures, states)) as citation,
        15 as place
    from group_counts
    inner join attempts using (benchmark)
    group by benchmark, attempts.n_failures_observed
    having
        count(*) > 1
        and sum(group_counts.n_failures) >= 5
        and 2 * sum(group_counts.n_failures) >= attempts.n_failures_observed
),
-- One of several tasks that has most failures, and far more than its share.
of_one_task as (
    select
        benchmark,
        'slice' as kind,
        'task = ' || task_id as mode,
        n_failures,
        n_all_failures as n_failures_observed,
        1 as n_tasks,
        n_attempts,
        n_all_attempts,
        0 as place
    from (
        select
            *,
            sum(n_failures) over of_benchmark as n_all_failures,
            sum(n_attempts) over of_benchmark as n_all_attempts,
            count(*) over of_benchmark as n_all_tasks
        from (
            select
                benchmark,
                task_id,
                count(*) filter (where not is_pass) as n_failures,
                count(*) as n_attempts
            from staging.rollouts
            inner join staging.run_benchmarks using (run_id)
            where is_pass is not null
            group by all
        )
        window of_benchmark as (partition by benchmark)
    )
    where
        n_all_tasks >= 5
        and n_failures >= 5
        and 2 * n_failures > n_all_failures
        and n_failures * n_all_attempts >= 3 * n_attempts * n_all_failures
),
concentrated as (
    select
        benchmark,
        'slice' as kind,
        slice_key || ' = ' || slice_value as mode,
        n_failures,
        n_mode_failures as n_failures_observed,
        n_tasks,
        n_attempts,
        n_all_attempts,
        19 as place
    from main.mode_slices
    where
        mode_slices.mode = 'any failure'
        and share >= 0.5
        and lift >= 2
        and p_adjusted < 0.05
        and n_failures >= 3
    qualify row_number() over (
        partition by benchmark order by p_adjusted, share desc, slice_key, slice_value
    ) = 1
),
-- The slice in which a run has most failures more than elsewhere, where its interval is apart from the rest's; of all
-- runs together where all of them pass less often in it.
weak as (
    select
        benchmark,
        'weak' as kind,
        if(is_of_all, null, run_id) as run_id,
        slice_key || ' = ' || slice_value as mode,
        if(is_of_all, n_all_passed, n_passed) as n_passes,
        if(is_of_all, n_all_scored, n_scored) as n_passes_observed,
        if(is_of_all, n_all_run_passed - n_all_passed, n_run_passed - n_passed) as n_attempts,
        if(is_of_all, n_all_run_scored - n_all_scored, n_run_scored - n_scored) as n_all_attempts,
        -- Where nearly all passes are elsewhere, that is what the score is made of.
        if(20 * n_passes <= n_passes_observed and 4 * n_attempts >= n_all_attempts, 0, 19) as place
    from (
        select
            *,
            count(*) over of_slice > 1
            and bool_and(n_passed / n_scored + 0.05 <= (n_run_passed - n_passed) / (n_run_scored - n_scored)) over of_slice
                as is_of_all,
            cast(sum(n_passed) over of_slice as bigint) as n_all_passed,
            cast(sum(n_scored) over of_slice as bigint) as n_all_scored,
            cast(sum(n_run_passed) over of_slice as bigint) as n_all_run_passed,
            cast(sum(n_run_scored) over of_slice as bigint) as n_all_run_scored
        from (
            select
                slice_metrics.*,
                run_benchmarks.benchmark,
                -- Tasks of no slice of the key are others, too.
                run_metrics.n_passed as n_run_passed,
                run_metrics.n_scored as n_run_scored
            from main.slice_metrics
            inner join staging.run_benchmarks using (run_id)
            inner join main.run_metrics using (run_id)
        )
        where n_scored > 0 and n_run_scored > n_scored
        window of_slice as (partition by benchmark, slice_key, slice_value)
    )
    inner join (from main.mode_slices where mode = 'any failure' and p_adjusted < 0.05) as tested
        using (benchmark, slice_key, slice_value)
    anti join concentrated using (benchmark)
    where
        is_below_rest
        and n_passed / n_scored + 0.15 <= (n_run_passed - n_passed) / (n_run_scored - n_scored)
    qualify row_number() over (
        partition by benchmark
        order by
            -- What a row says of its task before a piece of the task's id.
            starts_with(slice_key, 'task id part'),
            n_passed - n_scored * (n_run_passed - n_passed) / (n_run_scored - n_scored),
            run_id,
            slice_key,
            slice_value
    ) = 1
),
-- At tasks that several runs fail: what the failures of one run show, and others not.
runs_differ as (
    select
        benchmark,
        'runs' as kind,
        run_id,
        sign as mode,
        n_failures,
        n_failures_observed,
        n_other_failures as n_attempts,
        n_other_failures_observed as n_all_attempts,
        n_tasks,
        18 as place
    from main.run_contrasts
    -- A mode is listed with its runs.
    anti join modes on modes.benchmark = run_contrasts.benchmark and modes.mode = run_contrasts.sign
    qualify row_number() over (
        partition by benchmark
        order by
            n_other_failures / n_other_failures_observed - run_contrasts.n_failures / n_failures_observed,
            run_id,
            sign
    ) = 1
),
-- What goes with a low reward, where rewards are continuous.
low as (
    select
        benchmark,
        'low' as kind,
        sign as mode,
        runs[:3] as other_runs,
        n_with as n_attempts,
        n_without as n_all_attempts,
        reward_with,
        reward_without,
        10 + row_number() over (partition by benchmark order by p_adjusted, sign) as place
    from main.reward_contrasts
),
-- Where nothing says what passes: the lowest rewards, beside the usual one.
lowest as (
    select
        benchmark,
        'lowest' as kind,
        min(reward) as reward_with,
        median(reward) as reward_without,
        count(*) filter (where reward = least_reward) as n_attempts,
        count(*) as n_all_attempts,
        arg_min(run_id || '/' || task_id || ':' || rollout_index, (reward, run_id, task_id, rollout_index)) as citation,
        16 as place
    from (
        select
            *,
            min(reward) over (partition by benchmark) as least_reward
        from staging.rollouts
        inner join staging.run_benchmarks using (run_id)
        where is_scored and pass_threshold is null
    )
    group by benchmark
    having count(*) >= 5 and 2 * n_attempts <= count(*)
),
every as (
    from modes
    union all by name
    from copies
    union all by name
    from keyed
    where benchmark not in (select benchmark from names_key)
    union all by name
    select * from names_key
    union all by name
    from unmade
    union all by name
    from constant
    union all by name
    from graded_by
    union all by name
    from one_key
    union all by name
    from ended
    union all by name
    from worded
    union all by name
    from runs_differ
    union all by name
    from low
    union all by name
    from lowest
    union all by name
    from of_one_task
    union all by name
    from concentrated
    anti join of_one_task using (benchmark)
    union all by name
    from weak
    union all by name
    from never
    union all by name
    from stuck
    union all by name
    select * exclude (n_with_commonest) from near
    union all by name
    from check_groups
)
select
    benchmark,
    row_number() over (partition by benchmark order by place, mode) as finding_no,
    kind,
    mode,
    reason,
    run_id,
    cast(n_failures as bigint) as n_failures,
    cast(coalesce(every.n_failures_observed, attempts.n_failures_observed) as bigint) as n_failures_observed,
    coalesce(is_of_some, false) as is_of_some,
    coalesce(is_of_runs, false) as is_of_runs,
    coalesce(has_ungraded, false) as has_ungraded,
    -- Where no attempt has a grade, none is known to have failed.
    benchmark in (
        select run_benchmarks.benchmark
        from staging.rollouts
        inner join staging.run_benchmarks using (run_id)
        where is_scored
    ) as has_grades,
    n_passes,
    coalesce(every.n_passes_observed, attempts.n_passes_observed) as n_passes_observed,
    n_tasks,
    n_all_tasks,
    n_not_run_tasks,
    cast(n_attempts as bigint) as n_attempts,
    cast(n_all_attempts as bigint) as n_all_attempts,
    reward_with,
    reward_without,
    example_task,
    coalesce(top_tasks, []) as top_tasks,
    coalesce(other_values, []) as other_values,
    coalesce(other_runs, []) as other_runs,
    citation,
    -- What scores mean is in question: to be read before any of them.
    place < 0
    and (
        kind in ('constant', 'graders', 'key', 'unmade')
        -- Where most failures have the key, the verdicts are.
        or kind = 'names_key' and 2 * every.n_failures >= every.n_failures_observed
    ) as is_of_scores
from every
left join attempts using (benchmark)
qualify finding_no <= 5
