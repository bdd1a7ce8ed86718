-- Literal observations of each rollout: what its record, its checks, its calls and its answer show.
-- `sign` is their text. Scope: of the rollout, of its task (all attempts of every task agree), of its run.
-- grain: run_id, task_id, rollout_index, kind, name, value
-- looks at: run
-- kind: table
-- needs: staging.entries | staging.ungraded | staging.rule_matches | main.checks | staging.errors | staging.calls | staging.records where last_message_seq is not null | staging.rollouts where is_observed or coalesce(answer, sandbox_outcome, limit_reached) is not null or coalesce(is_masked::bigint, n_tool_timeouts, n_compactions, n_subagents) is not null or greatest(output_tokens, n_turns, n_tool_calls) >= 10
with rollouts as materialized (
    select
        rollouts.*,
        benchmark,
        files.format is not null as is_foreign
    from staging.rollouts
    inner join staging.run_benchmarks using (run_id)
    inner join raw.files on files.file_no = record_id // 1099511627776
),
-- What the fields of a row literally say, as short values: texts, booleans, null, empty, members of lists.
shown as (
    select
        record_id,
        if(key <> '', parent, path) as path,
        parent,
        case
            when key <> '' then if(length(key) <= 80, 'has ' || key, null)
            when kind = 'NULL' then 'is null'
            when kind = 'EMPTY' then 'is empty'
            when kind in ('OBJECT', 'ARRAY') then null
            when item_no > 0 then if(kind = 'VARCHAR' and n_characters <= 40, 'has ' || value, null)
            when kind = 'BOOLEAN' then value
            -- A time is of the attempt alone; a grader may explain many verdicts in the same words.
            when kind = 'VARCHAR'
                and (
                    n_characters > if(is_explanation_name(path), 160, 60)
                    or regexp_matches(value, '^\d{4}-\d\d-\d\d[T ]\d\d:\d\d')
                ) then ''
            else value
        end as value,
        item_no = 0 and kind not in ('BOOLEAN', 'VARCHAR', 'NULL', 'EMPTY', 'OBJECT', 'ARRAY') as is_number,
        key <> '' or item_no > 0 as is_member
    from staging.entries
    where
        item is null
        and path not like '%.*.%'
        -- Which checks count is no observation.
        and name <> 'reward_basis'
),
-- Verdicts of named checks are in `checks`.
others as (
    select
        shown.*,
        benchmark,
        run_id,
        answer,
        -- What lists the parts of the answer says it again.
        is_member and contains(final_text, substr(value, 5)) as is_said
    from shown
    inner join rollouts using (record_id)
    left join staging.final_texts using (record_id)
    where
        value is not null
        and not (is_member and path in (select source from main.checks))
        -- A map by the id of its own task says nothing.
        and not (is_member and (record_id, substr(value, 5)) in (
            select
                record_id,
                value
            from staging.entries
            where item_no = 0 and kind = 'VARCHAR'
        ))
        and parent not in (select source from main.checks)
),
field_paths as (
    select
        benchmark,
        path,
        -- Numbers are sizes, unless there are only two.
        bool_or(is_number and value not in ('0', '1', '0.0', '1.0')) as is_size,
        count(distinct record_id) as n_rows,
        -- Several runs may give the same names to their attempts.
        count(distinct (run_id, value)) filter (where value not in ('is null', 'is empty')) as n_values,
        bool_or(is_member) as is_list,
        -- Of few attempts a word each says something, an id does not.
        n_rows < 20 and bool_and(
            value in ('is null', 'is empty')
            or length(value) <= 20
            and regexp_matches(value, '^[^\s\d]\S*$')
            and not regexp_matches(value, '[0-9a-f]{6}')
        ) as has_words,
        -- The answer itself is compared with its key; of its field counts only that it is null or empty.
        count(*) filter (where value = answer)
            >= 0.5 * greatest(count(*) filter (where value not in ('is null', 'is empty')), 1)
        or coalesce(count(*) filter (where is_said) >= 0.8 * nullif(count(*) filter (where is_member), 0), false)
            as is_answer
    from others
    group by benchmark, path
    having not (is_answer and path in ('extracted_answer', 'extracted_label', 'extracted'))
    -- One name in two spellings with the same values is one field.
    qualify row_number() over (
        partition by benchmark, bare_text(path), bit_xor(mixed_hash(record_id, value)), count(*) order by path
    ) = 1
),
attempts_of_benchmark as (
    select
        benchmark,
        count(*) as n_attempts
    from staging.rollouts
    inner join staging.run_benchmarks using (run_id)
    group by all
),
field_values as (
    select distinct
        record_id,
        path,
        value
    from others
    inner join field_paths using (benchmark, path)
    inner join attempts_of_benchmark using (benchmark)
    where case
        -- Of an object that few attempts have, what it lacks says no more than that it is there.
        when value in ('is null', 'is empty') then not contains(path, '.') or 2 * n_rows >= n_attempts
        -- Ids, times, hashes and texts are distinct in most attempts; what is right belongs to the task.
        else value <> ''
            and not is_answer
            and not is_size
            and (is_list or has_words or n_values < 0.8 * n_rows)
            and not is_key_name(path)
    end
),
ungraded as (
    select
        record_id,
        'ungraded' as kind,
        regexp_extract(reason, '^\S+') as name,
        regexp_extract(reason, '^\S+ (.*)$', 1) as value
    from staging.ungraded
),
-- Modes that a profile declares: their predicate is their text.
declared as (
    select
        record_id,
        'profile' as kind,
        rules.mode as name,
        rules.predicate as value,
        matches.seq
    from staging.rule_matches as matches
    inner join raw.failure_rules as rules using (rule_no)
    inner join rollouts using (run_id, task_id, rollout_index)
),
fields as (
    select
        record_id,
        'field' as kind,
        path as name,
        value
    from field_values
    where path not in (select name from ungraded)
    union all
    -- What the harness says of the attempt from outside; where it says nothing, nothing is known.
    select
        record_id,
        'field' as kind,
        name,
        value
    from (
        select
            record_id,
            unnest([
                {name: 'mask_sample', value: is_masked::varchar},
                {name: 'sandbox outcome', value: sandbox_outcome},
                {name: 'a tool call timed out', value: (n_tool_timeouts > 0)::varchar},
                {name: 'context was compacted', value: (n_compactions > 0)::varchar},
                {name: 'subagents were started', value: (n_subagents > 0)::varchar}
            ], recursive := true)
        from rollouts
        where coalesce(is_masked::varchar, sandbox_outcome) is not null
            or coalesce(n_tool_timeouts, n_compactions, n_subagents) is not null
    )
    where value is not null
),
-- What all attempts of a benchmark say alike distinguishes none; but why they ended or failed is given of each.
alike as (
    select
        benchmark,
        path,
        min(words) as value,
        if(min(beginning) = max(beginning), min(beginning), min(signature)) as signature
    from (
        select
            *,
            left(excerpt, 160) as beginning,
            signature_of(excerpt) as signature
        from (
            select
                benchmark,
                path,
                n_all,
                coalesce(traceback, value) as words,
                error_excerpt(coalesce(traceback, value)) as excerpt
            from staging.entries
            inner join rollouts using (record_id)
            inner join (select benchmark, count(*) as n_all from rollouts group by all) as sizes using (benchmark)
            where
                kind = 'VARCHAR'
                and item_no = 0
                and key = ''
                and n_characters <= 4000
                and path not like '%.*.%'
                and not (is_foreign and starts_with(path, 'metadata.'))
                and is_reason(name, value)
        )
    )
    group by benchmark, path, n_all
    having count(*) = n_all and n_all > 1 and count(distinct signature) = 1
),
stated as (
    select
        record_id,
        'field' as kind,
        path as name,
        -- Of a text that holds other numbers in each attempt, what they share.
        if(
            bool_and(coalesce(traceback, entries.value) = alike.value) over (partition by benchmark, path),
            left(alike.value, 160),
            alike.signature
        ) as value
    from staging.entries
    inner join rollouts using (record_id)
    inner join alike using (benchmark, path)
    where entries.kind = 'VARCHAR' and item_no = 0 and key = ''
),
check_counts as (
    select
        run_id,
        task_id,
        rollout_index,
        count(*) filter (where not is_passed) as n_failed,
        count(*) as n_checks
    from main.checks
    where coalesce(is_of_reward, is_passed is not null)
    group by all
),
checks as (
    select
        record_id,
        'check' as kind,
        check_sign(source, check_name) as name,
        'fails' as value
    from main.checks
    inner join rollouts using (run_id, task_id, rollout_index)
    -- A check named after a tool asks whether the call was made, which is known better.
    where
        not is_passed
        and (run_id, regexp_replace(check_name, ' [(][0-9]+[)]$', '')) not in (
            select
                run_id,
                tool
            from main.expected_calls
            where expected_no is not null
        )
    union all
    select
        record_id,
        'check' as kind,
        'one check fails' as name,
        'all others pass' as value
    from check_counts
    inner join rollouts using (run_id, task_id, rollout_index)
    where n_failed = 1 and n_checks > 1
),
-- How the grader's words begin, where several attempts share several words: the first line, up to a colon.
explained as (
    select distinct
        record_id,
        'explanation' as kind,
        'explanation' as name,
        trim(regexp_extract(left(message, 61), '^\s*([^:\r\n]*)', 1)) as value
    from main.checks
    inner join rollouts using (run_id, task_id, rollout_index)
    -- Which tests fail are checks.
    where source = 'score' and length(value) <= 60 and contains(value, ' ') and not starts_with(value, 'fails ')
    qualify
        count(*) over (partition by benchmark, value) >= 3
        and min(task_id) over (partition by benchmark, value) <> max(task_id) over (partition by benchmark, value)
),
expected as (
    select distinct
        record_id,
        'expected' as kind,
        tool as name,
        case expected_calls.status
            when 'never' then 'expected, never called'
            when 'fewer' then 'expected, called fewer times'
            when 'failed' then 'expected, answered with an error'
            when 'refused' then 'expected, called otherwise and refused'
            when 'differs' then
                'called with another ' || coalesce(
                    nullif(array_to_string(list_sort(differing_keys)[:3], ', '), ''),
                    'argument'
                )
            when 'unasked' then 'called, not expected'
        end as value,
        min(seq) as seq
    from main.expected_calls
    inner join rollouts using (run_id, task_id, rollout_index)
    -- Who looks is not to be asked: of tools that are known to change nothing only the table tells.
    where
        expected_calls.status not in ('made', 'none')
        and not (expected_calls.status = 'unasked' and coalesce(not is_write, false))
    group by all
    union all
    select
        record_id,
        'expected' as kind,
        tool as name,
        'expected, not made as expected' as value,
        min(seq) as seq
    from main.expected_calls
    inner join rollouts using (run_id, task_id, rollout_index)
    where expected_calls.status in ('never', 'fewer', 'differs', 'refused')
    group by all
    union all
    -- Of any tool, where it is known which ones change something.
    select
        record_id,
        'expected' as kind,
        'a change' as name,
        if(
            expected_calls.status in ('unasked', 'differs'),
            'made that is not expected',
            'expected, not made'
        ) as value,
        min(seq) as seq
    from main.expected_calls
    inner join rollouts using (run_id, task_id, rollout_index)
    where is_write and expected_calls.status not in ('made', 'none')
    group by all
),
raised as (
    select
        *,
        signature_of(excerpt) as signature
    from (
        select
            record_id,
            benchmark,
            true as is_field,
            path as name,
            error_excerpt(without_task(error_message(coalesce(traceback, value)), task_id)) as excerpt
        from staging.entries
        inner join rollouts using (record_id)
        where
            kind = 'VARCHAR'
            and (
                traceback is not null
                or regexp_matches(value, '^[A-Za-z_.]*(Error|Exception)\b')
                -- Readers of other formats put the harness's own error there, in any words.
                or path in ('error_message', 'patch_error') and record_id in (select record_id from rollouts where is_foreign)
            )
        union all by name
        -- What a test raised, in the words of its verifier.
        select
            record_id,
            benchmark,
            false as is_field,
            source as name,
            error_excerpt(without_task(raised_error(message), task_id)) as excerpt
        from main.checks
        inner join rollouts using (run_id, task_id, rollout_index)
        where not is_passed and raised_error(message) is not null
    )
),
errors as (
    select
        record_id,
        'error' as kind,
        if(source = 'tool', 'tool result', 'reply') as name,
        signature as value,
        min(place) as seq
    from staging.errors
    inner join rollouts using (run_id, task_id, rollout_index)
    where source in ('tool', 'environment') and signature <> ''
    group by all
    union all by name
    -- With its words, and by its class: one and the same fault may have many words.
    select distinct
        record_id,
        'error' as kind,
        name,
        unnest(list_distinct([
            signature,
            -- The word alone is no class.
            nullif(regexp_extract(signature, '^([A-Za-z_.]+(Error|Exception))\b', 1), '')
        ])) as value
    from (
        select
            record_id,
            name,
            case
                when is_field then rtrim(common_signature((benchmark, is_field), signature, excerpt), ': ')
                else common_signature((benchmark, is_field), signature, excerpt)
            end as signature
        from raised
    )
    union all by name
    -- Any error in a field of the row itself.
    select
        record_id,
        'error' as kind,
        path as name,
        'recorded' as value
    from staging.entries
    where
        kind = 'VARCHAR'
        and item_no = 0
        and (
            regexp_matches(value, '^[A-Za-z_.]*(Error|Exception)\b')
            or path in ('error_message', 'patch_error') and record_id in (select record_id from rollouts where is_foreign)
        )
),
-- Where several attempts end at one and the same number, it is a cap; of one attempt, where it is round.
sizes as (
    select
        run_id,
        record_id,
        unnest([
            {name: 'output tokens', size: output_tokens},
            {name: 'turns', size: n_turns},
            {name: 'tool calls', size: n_tool_calls}
        ], recursive := true)
    from rollouts
),
largest as (
    select
        run_id,
        name,
        max(size) as cap
    from sizes
    group by all
    -- Where all attempts of a run have as many turns, a few of these may be all that were allowed.
    having
        max(size) >= 10
        or name = 'turns' and max(size) >= 4 and min(size) = max(size) and count(size) >= 5
),
-- What other attempts at the benchmark go beyond is a cap only where many end at it.
beyond as (
    select
        benchmark,
        name,
        max(cap) as largest_of_all
    from largest
    inner join staging.run_benchmarks using (run_id)
    group by all
),
caps as (
    select
        benchmark,
        name,
        cap
    from (
        select
            run_id,
            benchmark,
            name,
            cap,
            count(*) filter (where size = cap) as n_at_cap,
            count(distinct size) as n_sizes,
            any_value(beyond.largest_of_all) as highest,
            count(*) filter (where size < cap and size >= 0.9 * cap) as n_near,
            count(distinct size) filter (where size < cap and size >= 0.9 * cap) as n_near_sizes
        from sizes
        inner join largest using (run_id, name)
        inner join staging.run_benchmarks using (run_id)
        inner join beyond using (benchmark, name)
        group by run_id, benchmark, name, cap
    )
    where
        -- Attempts that are all alike run into nothing; a cap of tokens is a round number.
        n_at_cap >= if(cap < highest, 5, 3)
        and n_sizes >= 3
        and n_at_cap * n_near_sizes >= 3 * n_near
        and (name <> 'output tokens' or cap % 50 = 0 or cap % 64 = 0)
        or name = 'output tokens' and (cap % 1000 = 0 or cap % 1024 = 0)
    union
    -- So it is where nobody who ends at it, in any run whose largest it is, was graded or met an error.
    select
        benchmark,
        name,
        cap
    from sizes
    inner join largest using (run_id, name)
    inner join staging.run_benchmarks using (run_id)
    left join staging.ungraded using (record_id)
    where size = cap
    group by all
    having count(*) > 1 and bool_and(coalesce(not ungraded.is_message, false))
    union
    -- Or where every attempt of every run with this largest has exactly as many turns.
    select
        benchmark,
        name,
        cap
    from sizes
    inner join largest using (run_id, name)
    inner join staging.run_benchmarks using (run_id)
    where name = 'turns' and size is not null
    group by all
    having count(*) > 2 and bool_and(size = cap)
),
-- A cap that one run shows holds for another run of the benchmark whose largest is the same number.
shared_caps as (
    select
        run_id,
        name,
        cap
    from largest
    inner join staging.run_benchmarks using (run_id)
    semi join caps using (benchmark, name, cap)
),
limits as (
    select
        record_id,
        'limit' as kind,
        'recorded limit' as name,
        limit_reached as value
    from rollouts
    where limit_reached is not null
    union all
    select
        record_id,
        'limit' as kind,
        name,
        'at ' || format('{:,}', cap) || ', the largest of the run' as value
    from sizes
    inner join shared_caps using (run_id, name)
    where size = cap
),
-- Which tools the attempts of a run are given.
tools as (
    select
        run_id,
        list_distinct(flatten(list(from_json(records.tools, '["VARCHAR"]')))) as names
    from staging.records
    inner join rollouts using (record_id)
    where records.tools is not null
    group by all
),
called as (
    select
        record_id,
        list(distinct tool) as tools
    from staging.calls
    group by all
),
-- A call is an object with the name of a tool and its arguments, in one order or the other.
written_calls as (
    select record_id
    from (
        select
            record_id,
            run_id,
            final_text,
            list_concat(
                regexp_extract_all(
                    final_text, '"name"\s*:\s*"([^"\s]{1,100})"\s*,\s*"(?:arguments|parameters|input|args|kwargs)"\s*:\s*[{"]', 1
                ),
                regexp_extract_all(
                    final_text, '"(?:arguments|parameters|input|args|kwargs)"\s*:\s*\{[^{}]*\}\s*,\s*"name"\s*:\s*"([^"\s]{1,100})"', 1
                )
            ) as names
        from staging.final_texts
        inner join rollouts using (record_id)
        where contains(final_text, '"name"') and last_message_seq = n_events
    ) as texts
    inner join tools using (run_id)
    left join called using (record_id)
    -- Who made such a call may report it, but not as the whole of an answer.
    where len(list_intersect(
        texts.names,
        if(
            regexp_matches(final_text, '^\s*(?s:<think>.*</think>)?\s*(<\w+>|```\w*)?\s*[\[{]'),
            tools.names,
            list_filter(tools.names, lambda name: not list_contains(coalesce(called.tools, []), name))
        )
    )) > 0
),
words as (
    select
        record_id,
        rollouts.benchmark,
        rollouts.is_observed,
        rollouts.has_output,
        rollouts.answer,
        trimmed(final_texts.final_text) as final_text,
        regexp_matches(records.outline, '[cr]$') as ends_on_tool,
        coalesce(regexp_matches(records.outline, 'c$'), false) as is_call,
        answers.key,
        answers.answer as compared
    from rollouts
    left join staging.final_texts using (record_id)
    left join staging.answers using (record_id)
    left join (select record_id, outline from staging.records) as records using (record_id)
    -- What never ran gave no answer of any form.
    anti join (from staging.ungraded where not is_begun) as unbegun using (record_id)
),
-- Whose verifier says itself that it found no answer: a row without such a field says nothing of it. A field of
-- another name that is null or empty is a field.
unextracted as (
    select record_id
    from staging.entries
    where
        item_no = 0
        and kind in ('NULL', 'EMPTY')
        and (
            path in ('extracted_answer', 'extracted_label', 'extracted')
            or (select answer_path from raw.settings) = '$."' || replace(path, '.', '"."') || '"'
        )
),
-- The very same words at several tasks are no answer to any of them; white space does not count. Most texts
-- share not even their first words with those of other tasks, and are not read to their end.
beginnings as (
    select
        record_id,
        benchmark,
        task_id,
        final_text,
        trim(regexp_replace(regexp_extract(final_text, '^\s*(?:\S+\s+){0,7}\S+'), '\s+', ' ', 'g')) as first_words
    from words
    inner join rollouts using (record_id, benchmark)
    where length(final_text) >= 20
),
repeated as (
    select
        record_id,
        -- Long ones that differ in numbers alone are one; a short one may be an answer with a number.
        if(
            length(spaced) >= 40 and min(spaced) over same_words < max(spaced) over same_words,
            unnumbered,
            spaced
        ) as words
    from (
        select
            record_id,
            task_id,
            benchmark,
            trim(regexp_replace(final_text, '\s+', ' ', 'g')) as spaced,
            regexp_replace(spaced, '\d+', '<n>', 'g') as unnumbered
        from beginnings
        semi join (
            select
                benchmark,
                first_words
            from beginnings
            group by all
            having count(distinct task_id) >= 3
        ) using (benchmark, first_words)
        qualify count(distinct task_id) over (partition by benchmark, md5(spaced)) >= 3
    )
    window same_words as (partition by benchmark, md5(unnumbered))
),
-- Short ones are recognised by their words, unless they are a few letters to choose from: of few attempts two are soon the same.
short_answers as (
    select
        record_id,
        benchmark,
        task_id,
        coalesce(nullif(trimmed(words.answer), ''), final_text) as short_answer
    from words
    inner join rollouts using (record_id, benchmark)
    -- A verifier may keep its own summary as the answer.
    where length(short_answer) between 1 and 19 and contains(coalesce(final_text, short_answer), short_answer)
),
same_answers as (
    select
        record_id,
        short_answer
    from short_answers
    semi join (
        select
            benchmark
        from short_answers
        group by benchmark
        having count(distinct short_answer) >= 10 or count(*) >= 100
    ) using (benchmark)
    semi join (
        select
            benchmark,
            short_answer
        from short_answers
        inner join (
            select
                benchmark,
                count(distinct task_id) as n_tasks
            from short_answers
            group by benchmark
        ) as answered using (benchmark)
        group by all
        -- Wrong numbers coincide at a few of many tasks.
        having count(distinct task_id) >= if(number_alone(short_answer) is null, 3, greatest(3, 0.05 * any_value(n_tasks)))
    ) using (benchmark, short_answer)
),
shapes as (
    select
        record_id,
        'answer' as kind,
        'answer' as name,
        unnest(list_filter([
            case
                when is_observed and coalesce(final_text, '') = '' and not coalesce(ends_on_tool, false)
                    then 'is empty'
            end,
            -- A call that nothing follows is the answer itself, or submits it. What a limit cut off had no time to answer.
            case
                when ends_on_tool
                    and coalesce(trimmed(answer), '') = ''
                    and (final_text <> '' or is_observed and not is_call)
                    and record_id not in (select record_id from limits)
                    then 'is missing after the last tool call'
            end,
            'is given at several tasks: ' || left(repeated.words, 80),
            'is ' || short_answer,
            case
                when record_id in (from written_calls) then 'has a call written as text, not made'
            end,
            case when starts_with(final_text, '```') then 'begins with a code fence' end,
            case when left(final_text, 1) in ('{', '[') then 'begins with ' || left(final_text, 1) end,
            case when starts_with(final_text, '<') then 'begins with <' end,
            -- It announces what is not done.
            case when ends_with(trimmed(right(final_text, 20)), ':') then 'ends with a colon' end,
            case
                when coalesce(trimmed(answer), '') = '' and record_id in (from unextracted)
                    then 'was not extracted'
            end,
            case
                when key <> compared and list_transform(
                    [list_transform([key, compared], lambda text: bare_text(text))],
                    lambda bare: bare[1] = bare[2] and bare[1] <> ''
                )[1]
                    then 'equals the key but for case, white space or punctuation'
            end
        ], lambda value: value is not null)) as value
    from words
    left join repeated using (record_id)
    left join same_answers using (record_id)
),
tool_calls as (
    select
        record_id,
        'call' as kind,
        tool as name,
        'called' as value,
        min(seq) as seq
    from staging.calls
    where tool <> ''
    group by all
),
every as (
    from ungraded
    union all by name
    from declared
    union all by name
    from (from fields where (record_id, name) not in (select record_id, name from stated))
    union all by name
    from stated
    union all by name
    from checks
    union all by name
    from explained
    union all by name
    from expected
    union all by name
    from errors
    union all by name
    from limits
    union all by name
    from shapes
    union all by name
    from tool_calls
),
borne as (
    select
        record_id,
        kind,
        bounded_name(name) as name,
        bounded_name(trim(value)) as value,
        min(seq) as seq
    from every
    where value <> ''
    group by all
),
-- Is it the same in all attempts of every task that has several, or in all of every run?
counts as (
    select
        benchmark,
        run_id,
        task_id,
        count(*) as n
    from rollouts
    group by all
),
task_counts as (
    select
        benchmark,
        task_id,
        sum(n) as n
    from counts
    group by all
    having sum(n) > 1
),
run_counts as (
    select
        benchmark,
        run_id,
        sum(n) as n,
        count(*) over (partition by benchmark) as n_all_runs
    from counts
    group by benchmark, run_id
),
-- A field is of the task where no task with several attempts has two values for it.
by_task as (
    select
        benchmark,
        kind,
        name,
        bool_and(n_bearing = n) as is_same
    from (
        select
            benchmark,
            kind,
            name,
            value,
            task_id,
            count(*) as n_bearing
        from borne
        inner join rollouts using (record_id)
        where kind = 'field'
        group by all
    )
    inner join task_counts using (benchmark, task_id)
    inner join (select benchmark, count(*) as n_all_tasks from task_counts group by all) using (benchmark)
    group by benchmark, kind, name, n_all_tasks
    -- What only few tasks say is no way to sort them.
    having count(distinct task_id) > 1 and 2 * count(distinct task_id) >= n_all_tasks
),
by_run as (
    select
        benchmark,
        kind,
        name,
        value,
        bool_and(n_bearing = n) as is_same,
        count(*) as n_runs,
        any_value(n_all_runs) as n_all_runs
    from (
        select
            benchmark,
            kind,
            name,
            value,
            run_id,
            count(*) as n_bearing
        from borne
        inner join rollouts using (record_id)
        group by all
    )
    inner join run_counts using (benchmark, run_id)
    group by all
)
select
    run_id,
    task_id,
    rollout_index,
    kind,
    name,
    value,
    case
        when kind = 'error' and value = 'recorded' and name = 'patch_error' then 'patch is missing or does not apply'
        when kind = 'error' and value = 'recorded' then name || ' has an error'
        when kind = 'error' then 'error: ' || value
        when kind = 'profile' then name
        when kind = 'check' and value = 'fails' then 'check ' || regexp_replace(name, '^[^:]*: ', '') || ' fails'
        when kind = 'call' then 'calls ' || name
        when kind = 'explanation' then 'explanation begins with ' || value
        when value in ('is null', 'is empty', 'is absent', 'is not recorded', 'is not graded')
            or kind in ('expected', 'answer', 'check')
            or starts_with(value, 'has ')
            or starts_with(value, 'at ') and kind = 'limit'
            then name || ' ' || value
        else name || ' = ' || value
    end as sign,
    seq,
    case
        when by_run.is_same then 'run'
        when by_task.is_same then 'task'
        -- Metadata of another harness's sample is its task's.
        when kind = 'field' and starts_with(name, 'metadata.') and is_foreign then 'task'
        else 'rollout'
    end as scope
from borne
inner join rollouts using (record_id)
left join by_task using (benchmark, kind, name)
left join by_run using (benchmark, kind, name, value)
where not (
    kind = 'field'
    and coalesce(by_run.is_same and by_run.n_runs = n_all_runs, false)
    and (benchmark, name) not in (select benchmark, path from alike)
)
