-- What the verifier checked of an attempt: tests, criteria, rubric items, components of its reward.
-- grain: run_id, task_id, rollout_index, source, check_name
-- kind: table
with words as materialized (
    select
        list(word) filter (where role = 'passed') as passed,
        list(word) filter (where role = 'failed') as failed,
        list(word) filter (where role = 'container') as containers,
        '(?i)(^|[_.])(' || string_agg(word, '|') filter (where role = 'endings') || ')$' as endings,
        '(?i)^(' || string_agg(word, '|') filter (where role = 'component') || ')_|_('
            || string_agg(word, '|') filter (where role = 'component') || ')$' as components
    from raw.record_words
),
-- A pattern that is made up costs more than all else: it is asked of each name once. A plain field of
-- the row itself is a check by its name alone.
names_of_fields as materialized (
    select
        name, parent,
        list_contains(containers, lower(regexp_extract(rtrim(parent, '.'), '[^.]*$'))) as is_in_container,
        list_contains(containers, lower(name)) as is_container,
        regexp_matches(name, endings)
            and name not in (select word from raw.record_words where role = 'ruled') as is_named_check,
        regexp_matches(name, components) as is_component
    from (
        select name, parent, bool_or(item_no > 0) as has_items
        from staging.record_entries
        group by all
    )
    cross join words
    where has_items or parent <> '' or is_named_check or is_component
),
entries as materialized (
    select
        record_id, parent, name, path, item_no, kind, item_name, message, n_characters, value,
        if(regexp_matches(value, '^-?[0-9]'), try_cast(value as double), null) as number,
        -- A code says whether, not how far.
        if(regexp_matches(verdict_key, 'exit_code|return_?code'), score, coalesce(score, number)) as score,
        case
            when regexp_matches(verdict_key, 'exit_code|return_?code') then number = 0
            when n_characters > 20 then null
            when list_contains(passed, lower(trim(value))) then true
            when list_contains(failed, lower(trim(value))) then false
            when score between 0 and 1 then score >= 1 - 1e-9
            when number between 0 and 1 then number >= 1 - 1e-9
        end as is_passed,
        is_in_container, is_container,
        is_named_check and kind = 'BOOLEAN' as is_named_check,
        is_component and number between 0 and 1 as is_component
    from staging.record_entries
    inner join names_of_fields using (name, parent)
    cross join words
),
-- A list of verdicts may lie beside the list of their names.
lists as (
    select
        record_id, path, parent,
        bool_and(kind = 'BOOLEAN') as is_boolean,
        bool_and(number <= 1 or kind = 'BOOLEAN') and bool_or(is_container) as is_numbered,
        bool_and(kind = 'VARCHAR' and n_characters <= 200) as is_text,
        count(*) as n_items
    from entries
    where item_no > 0 and kind <> 'ITEM'
    group by all
),
names as (
    select verdicts.record_id, verdicts.path, min(texts.path) as names_path
    from lists as verdicts
    left join lists as texts
        on texts.record_id = verdicts.record_id
        and texts.parent = verdicts.parent
        and texts.n_items = verdicts.n_items
        and texts.is_text
    where verdicts.is_boolean or verdicts.is_numbered
    group by all
),
objects as (
    select record_id, parent
    from entries
    where item_no = 0
    group by all
    having
        bool_and(is_passed is not null)
        and (bool_or(is_in_container) or (parent <> '' and bool_or(number is null)))
),
found as (
    select record_id, path as source, item_name as check_name, is_passed, score, message, item_no
    from entries
    where kind = 'ITEM' and coalesce(is_passed::double, score) is not null
    union all by name
    select
        entries.record_id,
        entries.path as source,
        coalesce(texts.value, entries.item_no::varchar) as check_name,
        coalesce(entries.is_passed, false) as is_passed,
        entries.item_no
    from entries
    inner join names using (record_id, path)
    left join entries as texts
        on texts.record_id = entries.record_id
        and texts.path = names.names_path
        and texts.item_no = entries.item_no
    where entries.item_no > 0
    union all by name
    -- Tests by name under what became of them.
    select
        record_id,
        rtrim(parent, '.') as source,
        value as check_name,
        regexp_matches(lower(name), '^(pass|succe)') as is_passed,
        item_no
    from entries
    where
        item_no > 0 and kind = 'VARCHAR'
        and regexp_matches(
            lower(name),
            '^(pass(ed|ing)?|success(es)?|succeeded|fail(ed|ing|ures?)?|errors?)(_(tests?|checks?))?$'
        )
    union all by name
    select
        record_id,
        rtrim(parent, '.') as source,
        name as check_name,
        is_passed, score, item_no
    from entries
    left join objects using (record_id, parent)
    where
        item_no = 0
        and is_passed is not null
        and (objects.record_id is not null or is_named_check or is_component)
    union all by name
    -- What a run of pytest printed, in either of its forms.
    select
        record_id,
        'log' as source,
        coalesce(nullif(line.test, ''), line.named) as check_name,
        coalesce(nullif(line.became, ''), line.began) = 'PASSED' as is_passed,
        nullif(line.said, '') as message,
        0 as item_no
    from (
        select
            record_id,
            unnest(list_transform(
                regexp_extract_all(
                    -- In JSON the end of a line is a letter, which would begin the next one's name.
                    regexp_replace(verifier, '\\[nrt]', chr(10), 'g'),
                    '[\w./-]+\.py::[\w:.\[\]-]+ (?:PASSED|FAILED|ERROR)\b'
                    || '|\b(?:FAILED|ERROR) [\w./-]+\.py::[\w:.\[\]-]+(?: - [^\\"\n]{1,200})?'
                ),
                lambda line: regexp_extract(
                    line,
                    '^(?:(\S+::\S+) (PASSED|FAILED|ERROR)|(FAILED|ERROR) (\S+::\S+)(?: - (.*))?)$',
                    ['test', 'became', 'began', 'named', 'said']
                )
            )) as line
        from staging.rollout_keys
        inner join raw.texts using (record_id)
        where contains(verifier, '.py::')
    )
    union all by name
    select
        record_id,
        'reward_components' as source,
        entry.key as check_name,
        json_as_measure(entry.value) as score,
        case when score between 0 and 1 then score >= 1 - 1e-9 end as is_passed,
        0 as item_no
    from (
        select record_id, unnest(map_entries(json_fields(reward_components))) as entry
        from staging.rollout_keys
        inner join staging.records using (record_id)
        where reward_components is not null
    )
),
-- A name that stands twice in a list is two checks; a log tells of one test twice.
numbered as (
    select
        *,
        bounded_name(check_name) as bounded,
        row_number() over (
            partition by record_id, source, bounded order by item_no, is_passed, message nulls last
        ) as nth
    from found
    where check_name <> ''
    qualify nth = 1 or source <> 'log'
)
select
    run_id, task_id, rollout_index,
    if(source = '', 'row', bounded_name(source)) as source,
    if(nth = 1, bounded, bounded || ' (' || nth || ')') as check_name,
    is_passed, score, message
from numbered
inner join staging.rollout_keys using (record_id)
