-- What the record says of one failing attempt, item by item.
-- Checks, answer and key, how a conversation ends, expected calls, limits, what is empty, files of a patch,
-- counters, numbers, the grader's words. Notes of the lowest `priority` are listed first.
-- grain: run_id, task_id, rollout_index, note_no
-- looks at: across
-- kind: table
-- needs: staging.rollouts where coalesce(not is_pass, not is_scored)
with failing as (
    select
        rollouts.*,
        benchmark
    from staging.rollouts
    inner join staging.run_benchmarks using (run_id)
    where coalesce(not is_pass, not is_scored)
),
-- Checks that passes fail about as often as failures do: they do not decide.
lax_checks as (
    select
        benchmark,
        source,
        check_name
    from main.checks
    inner join staging.rollouts using (run_id, task_id, rollout_index)
    inner join staging.run_benchmarks using (run_id)
    where is_passed is not null and is_pass is not null
    group by benchmark, source, check_name
    -- At least half as often, of four passes or more that have it.
    having
        count(*) filter (where is_pass) >= 4
        and count(*) filter (where is_pass and not is_passed) > 0
        and 2 * count(*) filter (where is_pass and not is_passed) * count(*) filter (where not is_pass)
        >= count(*) filter (where not is_pass and not is_passed) * count(*) filter (where is_pass)
),
-- Cases of one test go together.
cases as (
    select
        run_id,
        task_id,
        rollout_index,
        source,
        case_base(check_name) as test,
        count(*) as n_checks,
        count(*) filter (where is_passed) as n_met,
        count(*) filter (where not is_score) as n_telling,
        bool_and(is_score) as is_score,
        bool_or(is_passed) as has_met,
        count(*) filter (where not is_passed and is_deciding) as n_failed,
        count(*) filter (where not is_passed and not is_of_reward and not is_lax) as n_failed_beside,
        min(label) filter (where not is_passed and is_deciding) as label,
        min(label) filter (where not is_passed and not is_of_reward and not is_lax) as label_beside
    from (
        select
            checks.*,
            scores.name is not null as is_score,
            lax_checks.benchmark is not null as is_lax,
            coalesce(is_of_reward, not is_lax) as is_deciding,
            -- A number alone names nothing.
            left(if(
                regexp_matches(checks.check_name, '^\d+$'),
                check_sign(checks.source, checks.check_name),
                checks.check_name
            ), 80) as label
        from main.checks
        inner join staging.run_benchmarks using (run_id)
        left join staging.score_checks as scores
            on scores.benchmark = run_benchmarks.benchmark
            and scores.name = check_sign(checks.source, checks.check_name)
        left join lax_checks
            on lax_checks.benchmark = run_benchmarks.benchmark
            and lax_checks.source = checks.source
            and lax_checks.check_name = checks.check_name
        where (is_counted or is_of_reward) and not coalesce(scores.is_verdict, false)
    )
    group by all
),
-- How many checks of each group are met: one of few checks may decide as much as one of many.
groups as (
    select
        run_id,
        task_id,
        rollout_index,
        source,
        sum(n_checks) as n_of_source,
        sum(n_met) as n_met_of_source
    from cases
    group by all
),
grouped as (
    select
        run_id,
        task_id,
        rollout_index,
        string_agg(
            split_part(source, '.', -1) || ' ' || n_met_of_source || ' of ' || n_of_source, ', '
            order by n_of_source, source
        ) as met_by_group
    from groups
    group by all
    having
        count(*) between 2 and 3
        -- A total hides few checks among many.
        and max(n_of_source) > 4 * min(n_of_source)
        and bool_and(coalesce(source, '') not in ('', 'log'))
),
attempt_checks as (
    select
        run_id,
        task_id,
        rollout_index,
        sum(n_checks) as n_checks,
        sum(n_met) as n_met,
        -- A log lists what failed; how many there were it may not say.
        bool_or(source = 'log') and not bool_or(source = 'log' and has_met) as is_of_log,
        sum(n_failed) as n_failed,
        count(*) filter (where n_failed > 0) as n_failed_tests,
        min_by(
            if(n_failed > 1, n_failed || ' cases of ' || case_base(label), label), (is_score, n_of_source, source, test), 3
        ) filter (where n_failed > 0) as failed,
        min_by(
            if(n_failed_beside > 1, n_failed_beside || ' cases of ' || case_base(label_beside), label_beside),
            (source, test),
            3
        ) filter (where n_failed_beside > 0) as failed_beside
    from cases
    inner join groups using (run_id, task_id, rollout_index, source)
    group by all
    -- What only says the score again says nothing of it.
    having sum(n_telling) > 0
),
checked as (
    select
        record_id,
        'checks' as kind,
        1 as priority,
        case
            when is_of_log then ''
            -- Of more than 500 only some are listed.
            when n_checks_total > 500 then n_checks_met || ' of ' || n_checks_total || ' checks met, '
            when n_checks >= 500 then ''
            when met_by_group is not null then met_by_group || ' checks met, '
            else n_met || ' of ' || n_checks || ' checks met, '
        end || 'fails ' || array_to_string(failed, ', ')
        || if(n_failed_tests > 3, ', …', '')
        || coalesce('; not part of the reward: ' || array_to_string(failed_beside, ', '), '') as note
    from attempt_checks
    inner join failing using (run_id, task_id, rollout_index)
    left join grouped using (run_id, task_id, rollout_index)
    where n_failed > 0
),
-- Where all that is counted is met, or fails in passes too: what no pass fails, by its name.
deciding as (
    select
        record_id,
        'checks' as kind,
        1 as priority,
        'fails ' || array_to_string(
            min_by(left(check_name, 80), (regexp_matches(check_name, '^\d+$'), source, check_name), 1), ', '
        ) as note
    from main.checks
    inner join failing using (run_id, task_id, rollout_index)
    inner join (
        select
            run_benchmarks.benchmark,
            source,
            check_name
        from main.checks
        inner join staging.rollouts using (run_id, task_id, rollout_index)
        inner join staging.run_benchmarks using (run_id)
        where is_passed is not null
        group by all
        having
            count(*) filter (where is_pass and is_passed) > 0
            and count(*) filter (where is_pass and not is_passed) = 0
    ) as strict using (benchmark, source, check_name)
    semi join (
        from attempt_checks
        where n_failed = 0
    ) as undecided using (run_id, task_id, rollout_index)
    anti join staging.score_checks as scores
        on scores.benchmark = failing.benchmark
        and scores.name = check_sign(checks.source, checks.check_name)
    where not is_passed
    group by record_id
),
-- Tools of which passes too make other calls than expected, about as often as failures.
lax_tools as (
    select
        benchmark,
        tool
    from main.expected_calls
    inner join staging.rollouts using (run_id, task_id, rollout_index)
    inner join staging.run_benchmarks using (run_id)
    where expected_calls.status not in ('none', 'unasked') and is_pass is not null
    group by all
    having
        count(*) filter (where is_pass) >= 4
        and count(*) filter (where is_pass and expected_calls.status <> 'made') > 0
        and 2 * count(*) filter (where is_pass and expected_calls.status <> 'made') * count(*) filter (where not is_pass)
        >= count(*) filter (where not is_pass and expected_calls.status <> 'made') * count(*) filter (where is_pass)
),
criteria as (
    select
        record_id,
        'checks' as kind,
        1 as priority,
        n_checks_met || ' of ' || n_checks_total || ' criteria met' as note
    from failing
    anti join (from attempt_checks where n_checks > 1) using (run_id, task_id, rollout_index)
    where n_checks_total is not null
),
-- One text at all tasks that no pass gives is in the place of a key, and no key.
placeholders as (
    select run_id
    from staging.run_benchmarks
    semi join (
        select benchmark
        from staging.answers
        inner join staging.rollouts using (record_id)
        inner join staging.run_benchmarks using (run_id)
        group by benchmark
        having
            count(distinct key) = 1
            and count(distinct task_id) >= 3
            and count(*) filter (where is_pass and comparable(answers.answer) = comparable(key)) = 0
    ) using (benchmark)
),
answered as (
    select
        record_id,
        'answer' as kind,
        2 as priority,
        'answer "' || visible_space(case
            when length(answers.answer) <= 80 then answers.answer
            -- Of two long texts that begin alike from where they differ; else what they come to.
            when length(answers.key) > 80 and is_begun_alike then cut_around(answers.answer, answers.key, 80, 100)
            when key_place > 0
                -- How it begins and ends, too: it may mention the key and come to something else.
                then if(key_place > 90, left(answers.answer, 60) || ' … ', '')
                || substr(answers.answer, if(key_place > 90, key_place - 30, 1), if(key_place > 90, 70, key_place + 40))
                || if(length(answers.answer) > key_place + 100, ' … ' || right(answers.answer, 60), '')
            else '…' || right(answers.answer, 80)
        end, is_space_alone) || '", key "' || visible_space(case
            when length(answers.key) > 80 and not is_begun_alike then '…' || right(answers.key, 80)
            else cut_around(answers.key, answers.answer, 80, 100)
        end, is_space_alone) || '"' || if(is_space_alone, ', which differ in white space alone', '') as note
    from (
        select
            *,
            regexp_replace(answer, '\s', '', 'g') = regexp_replace(key, '\s', '', 'g') as is_space_alone,
            left(answer, 10) = left(key, 10) as is_begun_alike,
            -- Where a long answer has a short key among its words, or names the letter of an option.
            case
                when regexp_full_match(key, '[A-Z]') and length(answer) > 80 and names_key(answer, key)
                    then 1 + length(regexp_extract(
                        answer, '(?s)^(.*?)(?:^|[^\p{L}\p{N}])' || key || '[).:*\]]', 1
                    ))
                when length(key) between 4 and 80 then strpos(lower(answer), lower(trim(key)))
                else 0
            end as key_place
        from staging.answers
    ) as answers
    inner join failing using (record_id)
    where
        answers.answer <> answers.key
        and run_id not in (from placeholders)
        -- Where a long key ends with a list, it is a rubric: one of its items is not what it comes to.
        and (length(answers.key) <= 80 or not regexp_matches(answers.key, '\n\s*([-*•]|\d+[.)])\s[^\n]*\s*$'))
    union all by name
    -- Either more than the key decides, or the verdict is wrong.
    select
        record_id,
        'answer' as kind,
        2 as priority,
        'the answer is the key, "' || visible_space(left(answers.key, 80), false) || '"' as note
    from staging.answers
    inner join failing using (record_id)
    where answers.answer = answers.key and length(answers.key) <= 80
),
-- Without a key, the answer that is recorded beside a text that has it.
extracted as (
    select
        record_id,
        'answer' as kind,
        2 as priority,
        'the recorded answer is "' || visible_space(left(answer, 80), false) || '"' as note
    from failing
    inner join staging.final_texts using (record_id)
    anti join staging.answers using (record_id)
    -- What is not in the text was not taken from it: a tally, for example.
    where
        answer <> ''
        and trim(answer) <> trim(final_text)
        and contains(lower(final_text), lower(trim(answer)))
),
expected as (
    select
        failing.record_id,
        'expected' as kind,
        -- What passes too do otherwise comes after the grader's words.
        if(lax_tools.tool is null, 3, 6) as priority,
        expected_calls.tool || case expected_calls.status
            when 'never' then ' expected, never called: '
            when 'fewer' then ' expected, called fewer times: '
            when 'failed' then ' called as expected, answered with an error: '
            when 'differs' then ' called otherwise: '
            when 'refused' then ' called otherwise, and refused: '
            else ' called, not expected: '
        end || case expected_calls.status
            when 'failed' then coalesce(left(calls.message, 320), detail, '')
            when 'refused' then left(coalesce(detail, ''), 320) || coalesce(' → ' || left(calls.message, 120), '')
            else left(coalesce(detail, ''), 320)
        end as note,
        expected_calls.seq,
        -- What changes something comes before what only looks.
        row_number() over (
            partition by failing.record_id
            order by not coalesce(is_write, true), expected_calls.status = 'unasked', call_no
        ) as nth
    from main.expected_calls
    inner join failing using (run_id, task_id, rollout_index)
    left join staging.calls on calls.record_id = failing.record_id and calls.seq = expected_calls.seq
    left join lax_tools
        on lax_tools.benchmark = failing.benchmark
        and lax_tools.tool = expected_calls.tool
    where
        expected_calls.status not in ('made', 'none')
        -- A call that is not expected is noted only where it changes something.
        and (expected_calls.status <> 'unasked' or coalesce(is_write, false))
    qualify nth <= 3
),
-- How many attempts, and how many passes, have a sign.
sign_counts as (
    select
        benchmark,
        kind,
        name,
        value,
        count(*) filter (where is_pass) as n_passes,
        count(*) as n
    from staging.signs
    inner join staging.rollouts using (run_id, task_id, rollout_index)
    inner join staging.run_benchmarks using (run_id)
    group by all
),
totals as (
    select
        benchmark,
        count(*) as n_all,
        count(*) filter (where is_pass) as n_all_passes,
        bool_or(is_scored) as has_graded,
        count(*) filter (where coalesce(not is_pass, not is_scored)) as n_all_failures
    from staging.rollouts
    inner join staging.run_benchmarks using (run_id)
    group by all
),
-- Fields that say something in failures alone, by the names that signs have for them.
of_failures as (
    select
        benchmark,
        'field' as kind,
        if(key <> '', parent, path) as name
    from staging.entries
    inner join staging.rollouts using (record_id)
    inner join staging.run_benchmarks using (run_id)
    inner join totals using (benchmark)
    where entries.kind not in ('NULL', 'EMPTY') and n_all_passes > 0
    group by all
    -- A word for nothing says nothing.
    having count(*) filter (where is_pass and lower(value) not in ('none', 'null', 'n/a')) = 0
),
-- Longer texts that the record has of failures alone, or that are named as an explanation of the verdict.
failure_texts as (
    select
        benchmark,
        path,
        is_explanation_name(path) as is_explanation
    from staging.entries
    inner join staging.rollouts using (record_id)
    inner join staging.run_benchmarks using (run_id)
    inner join totals using (benchmark)
    where kind = 'VARCHAR' and item is null and path not like '%.*%'
    group by all
    having
        (is_explanation or not coalesce(bool_or(is_pass), false))
        -- Two failures or more.
        and min(record_id) filter (where not is_pass) < max(record_id) filter (where not is_pass)
        and median(n_characters) between 41 and 4000
        -- Without a pass only what several failures say can be distinguished from what the task says.
        and (
            is_explanation
            or any_value(n_all_passes) > 0
            or count(traceback) > 0
            -- Signatures take long: they are read only here.
            or 2 * count(distinct if(n_all_passes = 0, error_signature(value), null)) <= count(*)
        )
),
-- What the attempt answers, by which fields that repeat it are recognised: of attempts that have such fields.
own_words as materialized (
    select
        record_id,
        answer,
        bare_text(left(final_text, 2000) || right(final_text, 2000)) as final_words
    from failing
    inner join staging.final_texts using (record_id)
    semi join (
        select record_id
        from staging.signs
        inner join failing using (run_id, task_id, rollout_index)
        where kind = 'field'
        union all
        select record_id
        from staging.entries
        inner join failing using (record_id)
        semi join failure_texts using (benchmark, path)
    ) as repeating using (record_id)
),
-- Signs that only say the score again.
score_signs as (
    select
        benchmark,
        kind,
        name
    from staging.modes
    where reason in ('same as score', 'part of score', 'measure')
),
-- Signs that few passes have.
rare_signs as (
    select
        record_id,
        signs.kind,
        -- Fields last: they may be about the task.
        if(signs.kind = 'field', 7, 5) as priority,
        sign as note,
        seq,
        -- That a field is null says something where all passes fill it.
        signs.kind = 'field' and value = 'is null' and (n_passes > 0 or n_all_passes = 0) as is_nothing,
        row_number() over (partition by record_id, signs.kind order by n_passes, seq desc, length(sign) desc, sign) as nth_of_kind,
        row_number() over (
            partition by record_id
            order by
                list_position(['ungraded', 'profile', 'limit', 'answer', 'error', 'field'], signs.kind),
                n_passes,
                value not in ('is null', 'is empty'),
                sign
        ) as nth
    from staging.signs
    inner join failing using (run_id, task_id, rollout_index)
    inner join sign_counts using (benchmark, kind, name, value)
    inner join totals using (benchmark)
    inner join (
        select
            benchmark,
            task_id,
            kind,
            name,
            value,
            count(*) as n_of_task
        from staging.signs
        inner join staging.run_benchmarks using (run_id)
        group by all
    ) as of_task using (benchmark, task_id, kind, name, value)
    inner join (
        select
            benchmark,
            task_id,
            count(*) as n_task_attempts
        from staging.rollouts
        inner join staging.run_benchmarks using (run_id)
        group by all
    ) as attempts using (benchmark, task_id)
    anti join score_signs using (benchmark, kind, name)
    left join of_failures using (benchmark, kind, name)
    left join own_words using (record_id)
    where
        signs.kind in ('ungraded', 'profile', 'limit', 'answer', 'error', 'field')
        and (scope = 'rollout' or signs.kind in ('answer', 'limit', 'ungraded', 'error'))
        and (n_passes <= 0.1 * n_all_passes or signs.kind in ('ungraded', 'limit'))
        -- Nor does what all attempts at the task bear say anything of one.
        and (n_of_task < n_task_attempts or n_task_attempts = 1 or signs.kind <> 'field')
        and (n < n_all or signs.kind in ('ungraded', 'limit') or value = 'is empty')
        -- What one of several failures alone says of itself may be its task's name.
        and (
            signs.kind <> 'field'
            or of_failures.name is not null
            or n - n_passes >= least(2, n_all_failures)
        )
        -- A word that passes have others of says which kind of task it is, where nobody tried it twice.
        and not (
            signs.kind = 'field'
            and of_failures.name is null
            and n_task_attempts = 1
            and not contains(value, ' ')
            and not is_end_name(name)
            and is_verdict(value) is null
        )
        -- Without a pass beside it, what most attempts say is how they usually end.
        and not (
            signs.kind = 'field'
            and n_all_passes = 0
            and 2 * n > n_all
            and (not has_graded or name = 'termination_reason' or coalesce(value = finish_reason, false))
        )
        -- The answer and its key have notes of their own.
        and name not in (select key_path from staging.answers)
        and not (
            signs.kind = 'answer'
            and signs.value is not distinct from 'is ' || trim(own_words.answer)
            and record_id in (select record_id from answered)
        )
        and not (
            signs.kind = 'field'
            and (coalesce(value = own_words.answer, false) or is_own_words(value, final_words))
        )
    -- Of errors the one that the attempt ends in.
    qualify
        nth <= 6
        and (signs.kind <> 'error' or nth_of_kind = 1)
        and (signs.kind <> 'error' or seq is null or seq >= n_events - 2)
),
graded as (
    select
        record_id,
        'grader' as kind,
        4 as priority,
        'the grader: ' || if(
            length(message) > 240,
            -- What a long text comes to, from where a sentence or a word begins.
            '…' || regexp_replace(right(message, 240), '^([^.]{0,120}[.] |\S* )', ''),
            message
        ) as note
    from (
        select
            run_id,
            task_id,
            rollout_index,
            -- Of a text that was cut what follows the cut.
            regexp_replace(
                regexp_replace(
                    arg_min(message, (not coalesce(is_of_reward, true), source, check_name)),
                    '^.* … \S*\s*',
                    '…',
                    's'
                ),
                '\s+',
                ' ',
                'g'
            ) as message
        from main.checks
        -- Data is no explanation.
        where not is_passed and message <> '' and left(message, 1) not in ('{', '[')
        group by all
    )
    inner join failing using (run_id, task_id, rollout_index)
),
reasons as (
    select
        record_id,
        'reason' as kind,
        if(bool_or(is_explanation), 4, 6) as priority,
        -- From the error on, where one is named and more follows.
        path || ': ' || left(regexp_replace(
            regexp_replace(
                arg_min(coalesce(traceback, value), (item_no, value)),
                '^.*?((?:\S+\s)?error\b.{100})',
                '…\1',
                's'
            ),
            '\s+',
            ' ',
            'g'
        ), 200) as note
    from staging.entries
    inner join failing using (record_id)
    inner join failure_texts using (benchmark, path)
    left join own_words using (record_id)
    where
        kind = 'VARCHAR'
        -- What a check says is noted already.
        and not (is_explanation and record_id in (select record_id from graded))
        and item is null
        and n_characters > 20
        -- One long word is a name; the model's own words are no reason.
        and regexp_matches(value, '\s')
        and not is_own_words(value, final_words)
        -- A list of nothing says nothing.
        and not regexp_matches(value, '[:=]\s*(\[\s*\]|\{\s*\}|None|null)\s*$')
    group by record_id, path
    qualify row_number() over (partition by record_id order by count(*), path) <= 2
),
patches as (
    select
        record_id,
        'patch' as kind,
        6 as priority,
        path || ' touches ' || array_to_string(files[:6], ', ') || if(len(files) > 6, ', …', '') as note
    from (
        select
            record_id,
            path,
            list_sort(list_distinct(regexp_extract_all(
                json_extract_string(verifier, '$.' || path), '(?m)^diff --git a/(\S+)', 1
            ))) as files
        from staging.entries
        inner join raw.texts using (record_id)
        where starts_with(value, 'diff --git ') and item_no = 0 and key = '' and regexp_matches(path, '^[A-Za-z0-9_.]+$')
    )
    inner join failing using (record_id)
    where len(files) > 0
),
-- The last texts are long: they are read where failures are few, and searched once they are chosen.
last_events as materialized (
    select
        record_id,
        seq,
        right(coalesce(words, text), 2000) as ending
    from raw.events
    inner join (
        select
            record_id,
            n_events
        from failing
        qualify count(*) over (partition by benchmark) < 100
    ) using (record_id)
    where seq > n_events - 4 and kind in ('tool_result', 'message')
),
-- A counter that has run out in one of the last events: 90/90.
counters as (
    select
        record_id,
        'limit' as kind,
        5 as priority,
        'a counter at its end: ' || arg_max(counter, seq) as note,
        max(seq) as seq
    from (
        select
            record_id,
            seq,
            regexp_extract(ending, '\b[A-Za-z]+ (\d{2,6})\s?/\s?(\d{2,6})\b', 0) as counter,
            regexp_extract(counter, '(\d+)\s?/', 1) as reached,
            regexp_extract(counter, '/\s?(\d+)', 1) as cap
        from last_events
    )
    where reached = cap and reached <> ''
    group by record_id
),
sized as (
    select
        benchmark,
        path,
        -- What is one number in a run is a setting.
        count(distinct (run_id, value)) - count(distinct run_id) as n_varying,
        bool_or(try_cast(value as double) % 1 <> 0) as has_fractions
    from staging.entries
    inner join staging.rollouts using (record_id)
    inner join staging.run_benchmarks using (run_id)
    where item_no = 0 and key = '' and kind in ('DOUBLE', 'UBIGINT', 'BIGINT')
    group by all
),
numbers as (
    select
        record_id,
        'number' as kind,
        8 as priority,
        path || ' ' || regexp_replace(printf('%.4g', try_cast(value as double)), '[.]0+$', '') as note,
        row_number() over (partition by record_id order by path) as nth
    from staging.entries
    inner join (
        from failing
        qualify count(*) over (partition by benchmark) < 10
    ) as failing using (record_id)
    inner join sized using (benchmark, path)
    where
        item_no = 0
        and key = ''
        and kind in ('DOUBLE', 'UBIGINT', 'BIGINT')
        and n_varying > 0
        -- Counts of tokens, times and the like say how long it was, not how near.
        and has_fractions
        and abs(try_cast(value as double)) <= 1000
        and not regexp_matches(lower(path), '(time|duration|latency|elapsed|seconds)(_(s|ms|sec|seconds))?$')
        -- What has a column of its own is no news.
        and not coalesce(abs(try_cast(value as double) - duration_s) < 1e-6, false)
        and not coalesce(try_cast(value as double) = reward, false)
        and not coalesce(try_cast(value as double) in (input_tokens, output_tokens), false)
    qualify nth <= 3
),
-- Attempts in which the model did not have the last word: where hardly a pass ends so, or a call was left out.
unanswered as (
    select
        failing.record_id,
        'ending' as kind,
        2 as priority,
        'ends with a message of the user: "' || visible_space(
            if(length(words) > 200, '…' || right(words, 200), words), false
        ) || '"' as note,
        seq
    from (from failing qualify count(*) over (partition by benchmark) < 1000) as failing
    inner join raw.events on events.record_id = failing.record_id and events.seq = failing.n_events
    where
        events.role = 'user'
        -- One word may be a marker of the harness.
        and regexp_matches(trim(words), '\s')
        and (
            (run_id, task_id, rollout_index) in (
                select
                    run_id,
                    task_id,
                    rollout_index
                from main.expected_calls
                where expected_calls.status in ('never', 'fewer')
            )
            or benchmark in (
                select benchmark
                from staging.rollouts
                inner join staging.run_benchmarks using (run_id)
                where is_pass
                group by all
                having 10 * count(*) filter (where last_message_seq < n_events) < count(*)
            )
        )
),
every as (
    from checked
    union all by name
    from deciding
    union all by name
    from criteria
    union all by name
    from answered
    union all by name
    from extracted
    union all by name
    from expected
    union all by name
    from graded
    union all by name
    from rare_signs
    union all by name
    from patches
    union all by name
    from reasons
    union all by name
    from counters
    union all by name
    from unanswered
    union all by name
    from numbers
)
select
    run_id,
    task_id,
    rollout_index,
    row_number() over (partition by record_id order by priority, note) as note_no,
    benchmark,
    kind,
    left(note, 400) as note,
    seq
from (
    select
        record_id,
        kind,
        note,
        min(seq) as seq,
        min(priority) as priority,
        coalesce(bool_and(is_nothing), false) as is_nothing,
        regexp_replace(note, '^(\S+ has |[^:=]*(: | = ))', '') as words
    from every
    group by record_id, kind, note
    -- The words of a field that are an error, too, are shown once.
    qualify
        kind not in ('field', 'reason')
        or length(words) < 12
        or row_number() over (partition by record_id, kind in ('field', 'reason'), words order by min(priority), note) = 1
)
inner join failing using (record_id)
-- Numbers say something where little else does.
qualify
    (priority < 8 or bool_and(priority = 8 or kind in ('field', 'reason')) over (partition by record_id))
    and not bool_and(is_nothing) over (partition by record_id)
