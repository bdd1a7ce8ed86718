-- What the verifier checked of an attempt: tests, criteria, rubric items, parts of its reward.
-- Recognised by shape: a list of objects with a name and a verdict, an object of verdicts, lists of
-- names below `passed` and `failed`, a list of verdicts beside one of names, lines of pytest.
-- `is_counted`: a verdict of its own, where there was something to check. `is_of_reward`: one of those that the
-- reward is made of, where the record says of which (`reward_basis`).
-- grain: run_id, task_id, rollout_index, source, check_name
-- looks at: run
-- kind: table
-- needs: staging.entries where item is not null or item_no > 0 or parent <> '' and is_verdict(value) is not null | staging.records where reward_components is not null | raw.texts where contains(verifier, '.py::')
with
-- The keys of the objects in a list, each in its place.
item_fields as (
    select
        benchmark,
        record_id,
        path,
        item_no,
        unnest(keys) as key,
        generate_subscripts(keys, 1) as place,
        unnest(json_extract(item, '$.*')) as value
    from (
        select
            *,
            json_keys(item) as keys
        from staging.entries
        inner join staging.rollout_keys using (record_id)
        inner join staging.run_benchmarks using (run_id)
        -- Definitions of tools are recognised by the schemas in them.
        where item is not null and not contains(item, '"properties"')
            -- What is expected of an attempt is compared with its calls.
            and path <> 'expected_calls'
    )
),
answers as materialized (
    select
        record_id,
        bare_text(left(final_text, 4000)) as final_words
    from staging.final_texts
    semi join item_fields using (record_id)
),
valued as (
    select
        benchmark,
        record_id,
        path,
        item_no,
        key,
        place,
        value,
        json_as_text(value) as text,
        starts_with(value, '"') and length(value) <= 400 as is_short_text,
        starts_with(value, '"') as is_text,
        value in ('true', 'false') as is_boolean,
        json_as_number(value) between 0 and 1 as is_share,
        is_verdict(json_as_text(value)) is not null as is_verdict,
        -- Some scorers give the model's own words as their explanation.
        is_text and is_own_words(text, final_words) as is_own
    from item_fields
    left join answers using (record_id)
),
item_keys as (
    select
        benchmark,
        path,
        key,
        min(place) as place,
        bool_and(is_boolean) as is_boolean,
        bool_and(is_verdict) and bool_or(is_text) as is_word,
        -- Beside verdicts a list may hold sums of them.
        2 * count_if(is_share) > count(*) and bool_and(try_cast(text as double) is not null) as is_share,
        bool_and(is_short_text) as is_short_text,
        bool_and(is_text) as is_text,
        2 * count_if(is_own) > count(*) as is_own,
        max(length(text)) as n_characters,
        -- A weight is the same whenever the check is made.
        count(distinct text) > 1 as is_varying,
        count(distinct (record_id, text)) = count(*) as is_distinct,
        count(*) as n_items
    from valued
    where text is not null
    group by all
),
list_sizes as (
    select
        benchmark,
        path,
        count(*) as n_items
    from staging.entries
    inner join staging.rollout_keys using (record_id)
    inner join staging.run_benchmarks using (run_id)
    where item is not null
    group by all
),
-- Which key says whether a check held, which one names it, and which one says why; only those that fail
-- may have a message.
list_keys as (
    select
        benchmark,
        path,
        arg_min(key, (not is_boolean, not is_word, not is_varying, place)) filter (
            where is_usual and (is_boolean or is_word or is_share and is_score_name(key))
        ) as verdict_key,
        arg_min(key, (not is_distinct, place)) filter (where is_common and is_short_text and not is_word) as name_key,
        arg_max(key, (n_characters, -place)) filter (where is_text and not is_word and not is_own) as message_key
    from (
        select
            item_keys.*,
            item_keys.n_items >= 0.9 * list_sizes.n_items as is_common,
            -- What could not be judged has a name all the same.
            2 * item_keys.n_items >= list_sizes.n_items as is_usual
        from item_keys
        inner join list_sizes using (benchmark, path)
    )
    group by benchmark, path
),
listed as (
    select
        record_id,
        path as source,
        item_no,
        max(text) filter (where key = name_key) as check_name,
        max(json_as_number(value)) filter (where key = verdict_key) as score,
        -- A score of less than all is not met: else it would vanish from "1 of 2 met".
        coalesce(
            is_verdict(max(text) filter (where key = verdict_key)),
            case when score between 0 and 1 then score >= 1 - 1e-9 end
        ) as is_passed,
        max(text) filter (where key = message_key and message_key <> name_key and not is_own) as message
    from valued
    inner join list_keys using (benchmark, path)
    where verdict_key is not null and name_key is not null
    group by record_id, path, item_no
),
-- Objects of nothing but verdicts, in some attempt two of them or a map; numbers are verdicts where all are
-- 0 or 1.
members as (
    select
        record_id,
        parent as source,
        name as check_name,
        value,
        entries.kind,
        key <> '' as is_map
    from staging.entries
    inner join raw.files on files.file_no = record_id // 1099511627776
    where
        item_no = 0
        and parent <> ''
        -- Metadata of another harness's sample is its task's.
        and not (files.format is not null and regexp_matches(parent, '^metadata(\.|$)'))
),
objects as (
    select
        record_id,
        source
    from members
    inner join staging.rollout_keys using (record_id)
    inner join staging.run_benchmarks using (run_id)
    group by benchmark, record_id, source
    having bool_and(coalesce(is_verdict(value) is not null, false))
    -- With one verdict in this attempt and several in others it is the same object.
    qualify max(count(*)) over (partition by benchmark, source) > 1 or bool_and(is_map)
),
-- A boolean that is false in half of the passes that have it says something else (patch_is_None).
flags as (
    select
        benchmark,
        source,
        check_name
    from members
    inner join objects using (record_id, source)
    inner join staging.rollouts using (record_id)
    inner join staging.run_benchmarks using (run_id)
    where kind = 'BOOLEAN' and not is_map and is_pass
    group by all
    having 2 * count(*) filter (where value = 'false') >= count(*)
),
grouped as (
    select
        record_id,
        source,
        -- A test that fails may carry its message behind its name; a file is no test.
        if(
            not is_verdict(value) and regexp_matches(check_name, '^' || test_name('[^\s/\[]+') || ' - '),
            regexp_extract(check_name, '^' || test_name('[^\s/\[]+')),
            check_name
        ) as check_name,
        is_verdict(value) as is_passed,
        if(kind in ('DOUBLE', 'UBIGINT', 'BIGINT'), try_cast(value as double), null) as score,
        nullif(regexp_extract(check_name, '^' || test_name('[^\s/\[]+') || ' - (.*)$', 1), '') as message
    from members
    inner join objects using (record_id, source)
    inner join staging.rollouts using (record_id)
    inner join staging.run_benchmarks using (run_id)
    anti join flags using (benchmark, source, check_name)
),
-- Names of tests under what became of them.
sorted as (
    select
        record_id,
        parent as source,
        item_no,
        value as check_name,
        is_verdict(lower(regexp_replace(name, '_?(tests?|checks?)$', ''))) as is_passed
    from staging.entries
    where item_no > 0 and kind = 'VARCHAR' and is_passed is not null
),
-- A list of verdicts beside the list of their names.
lists as (
    select
        record_id,
        path,
        parent,
        bool_and(kind = 'BOOLEAN') as is_boolean,
        bool_and(kind = 'VARCHAR' and n_characters <= 200) as is_text,
        count(*) as n_items
    from staging.entries
    where item_no > 0 and item is null
    group by all
),
beside as (
    select
        verdicts.record_id,
        verdicts.path as source,
        entries.item_no,
        coalesce(names.value, entries.item_no::varchar) as check_name,
        entries.value = 'true' as is_passed
    from lists as verdicts
    inner join staging.entries as entries
        on entries.record_id = verdicts.record_id
        and entries.path = verdicts.path
        and entries.item_no > 0
    left join (
        select
            record_id,
            parent,
            n_items,
            min(path) as path
        from lists
        where is_text
        group by all
    ) as texts
        on texts.record_id = verdicts.record_id
        and texts.parent = verdicts.parent
        and texts.n_items = verdicts.n_items
    left join staging.entries as names
        on names.record_id = verdicts.record_id
        and names.path = texts.path
        and names.item_no = entries.item_no
    where verdicts.is_boolean
),
-- What a run of pytest printed, in either of its forms.
logged as (
    select
        record_id,
        'log' as source,
        coalesce(nullif(line.test, ''), line.named) as check_name,
        coalesce(nullif(line.became, ''), line.began) = 'PASSED' as is_passed,
        -- Where the summary cuts it off, the line of the trace that begins so.
        nullif(if(
            ends_with(line.reason, '...'),
            coalesce(
                nullif(regexp_extract(log, '(?m)(?:^|")E +(' || regexp_escape(line.reason[:-4]) || '.{0,200})', 1), ''),
                line.reason
            ),
            line.reason
        ), '') as message
    from (
        select
            record_id,
            log,
            unnest(list_transform(
                regexp_extract_all(
                    log,
                    test_name('[\w./-]+\.py::[\w:.-]+') || ' (?:PASSED|FAILED|ERROR)\b'
                    || '|\b(?:FAILED|ERROR) ' || test_name('[\w./-]+\.py::[\w:.-]+') || '(?: - [^\\"\n]{1,200})?'
                ),
                lambda line: regexp_extract(
                    line,
                    '^(?:(' || test_name('\S+::[^\s\[]+') || ') (PASSED|FAILED|ERROR)'
                    || '|(FAILED|ERROR) (' || test_name('\S+::[^\s\[]+') || ')(?: - (.*))?)$',
                    ['test', 'became', 'began', 'named', 'reason']
                )
            )) as line
        from (
            select
                record_id,
                -- In JSON the end of a line is a letter, which would begin the next one's name.
                regexp_replace(verifier, '\\[nrt]', chr(10), 'g') as log
            from staging.rollout_keys
            inner join raw.texts using (record_id)
            where contains(verifier, '.py::')
        )
    )
),
components as (
    select
        record_id,
        'reward_components' as source,
        entry.key as check_name,
        json_as_measure(entry.value) as score,
        -- What is between is a measure.
        case when score in (0, 1) then score = 1 end as is_passed
    from (
        select
            record_id,
            unnest(map_entries(json_fields(reward_components))) as entry
        from staging.rollout_keys
        inner join staging.records using (record_id)
        where reward_components is not null
    )
),
every as (
    from listed
    union all by name
    from grouped
    union all by name
    from sorted
    union all by name
    from beside
    union all by name
    from logged
    union all by name
    from components
),
-- A name that is twice in a list is two checks; a log tells of one test twice.
numbered as (
    select
        *,
        bounded_name(check_name) as bounded,
        row_number() over (
            partition by record_id, source, bounded
            order by item_no, is_passed, message nulls last
        ) as nth
    from every
    where check_name <> '' and (is_passed is not null or score is not null)
    qualify nth = 1 or source not in ('log')
),
totals as (
    select
        benchmark,
        count(*) as n_attempts
    from staging.rollouts
    inner join staging.run_benchmarks using (run_id)
    group by all
),
-- What most attempts have is a measure, and no verdict, where it takes values between 0 and 1.
measures as (
    select
        benchmark,
        source,
        check_name
    from numbered
    inner join staging.rollouts using (record_id)
    inner join staging.run_benchmarks using (run_id)
    inner join totals using (benchmark)
    where n_attempts > 4
    group by benchmark, source, check_name, n_attempts
    having
        2 * count(*) > n_attempts
        and count(*) filter (where score not in (0, 1)) > 0
        -- The reward itself is passed or not, unless it leaves 0 to 1.
        and (bool_or(score is distinct from rollouts.reward) or min(score) < 0 or max(score) > 1)
),
-- Lists that are empty in one attempt: what is named after them had nothing to check.
empty_lists as (
    select
        record_id,
        bare_text(name) as name
    from staging.entries
    where
        item_no = 0
        and key = ''
        and (kind = 'EMPTY' and n_characters is null or kind = 'NULL')
        and path in (
            select path
            from staging.entries
            where item_no = 0 and (kind = 'ARRAY' or kind = 'EMPTY' and n_characters is null)
        )
),
idle as (
    select distinct
        record_id,
        source,
        check_name
    from numbered
    inner join empty_lists using (record_id)
    where is_passed and length(check_name) > 1 and starts_with(empty_lists.name, bare_text(check_name))
),
-- What is named after a list of checks is their sum.
sums as (
    select distinct
        numbered.record_id,
        numbered.source,
        numbered.check_name
    from numbered
    inner join (select distinct record_id, source from listed) as lists
        on lists.record_id = numbered.record_id
        and lists.source <> numbered.source
        and starts_with(bare_text(regexp_extract(lists.source, '[^.]*$')), bare_text(numbered.check_name))
    where length(numbered.check_name) > 1
),
-- One fact, recorded twice: under the same first word, in other objects or as a number beside a boolean, with the
-- same verdict in every attempt.
facts as (
    select
        benchmark,
        source,
        check_name,
        score is not null as is_number,
        regexp_extract(lower(check_name), '^[a-z0-9]+') as word,
        bit_xor(mixed_hash(record_id, is_passed)) as verdicts,
        count(*) as n
    from (
        from grouped
        union all by name
        from components
    )
    inner join staging.rollouts using (record_id)
    inner join staging.run_benchmarks using (run_id)
    where is_passed is not null
    group by all
    having count(*) > 2 and bool_or(is_passed) and not bool_and(is_passed)
),
repeated as (
    select
        benchmark,
        source,
        check_name
    from facts
    where word <> ''
    window same as (partition by benchmark, word, verdicts, n order by length(check_name), source, check_name)
    qualify source <> first_value(source) over same or is_number <> first_value(is_number) over same
),
-- The parts of the reward, where the record names them.
bases as (
    select
        record_id,
        list(bare_text(value)) as parts
    from staging.entries
    where name = 'reward_basis' and item_no > 0 and kind = 'VARCHAR'
    group by all
)
select
    run_id,
    task_id,
    rollout_index,
    if(numbered.source = '', 'row', bounded_name(numbered.source)) as source,
    if(nth = 1, bounded, bounded || ' (' || nth || ')') as check_name,
    if(measures.check_name is null, is_passed, null) as is_passed,
    score,
    -- Who explains a verdict ends with it; a traceback ends with what was raised.
    case
        when length(message) <= 400 then message
        else left(message, 190) || ' … ' || coalesce(left(raised_error(message), 200), right(message, 200))
    end as message,
    is_passed is not null
        and measures.check_name is null
        -- A number between 0 and 1 is a measure.
        and not coalesce(score not in (0, 1), false)
        and idle.record_id is null
        and sums.record_id is null
        and repeated.check_name is null
        -- Nor does the reward itself count,
        and not bool_and(coalesce(score = reward, false)) over of_name
        -- nor what nearly all have at several tasks and nobody fails, unless it is one of several of a name,
        and not coalesce(
            bool_and(is_passed) over of_name
            and max(nth) over (partition by benchmark, numbered.source, bounded) = 1
            and count(*) over of_name >= 0.9 * n_attempts
            and min(task_id) over of_name < max(task_id) over of_name,
            false
        )
        -- nor a place in a list where others have names.
        and not (
            regexp_matches(bounded, '^\d+$')
            and bool_or(not regexp_matches(bounded, '^\d+$')) over (partition by record_id)
        ) as is_counted,
    list_bool_or(list_transform(
        bases.parts,
        lambda part: part = bare_text(bounded)
            or starts_with(bare_text(regexp_extract(numbered.source, '[^.]*$')), part)
    ))
        and is_passed is not null
        and idle.record_id is null
        and sums.record_id is null
        and repeated.check_name is null as is_of_reward
from numbered
inner join staging.rollouts using (record_id)
inner join staging.run_benchmarks using (run_id)
inner join totals using (benchmark)
left join measures using (benchmark, source, check_name)
left join idle using (record_id, source, check_name)
left join sums using (record_id, source, check_name)
left join repeated using (benchmark, source, check_name)
left join bases using (record_id)
window of_name as (partition by benchmark, numbered.source, bounded, nth)
