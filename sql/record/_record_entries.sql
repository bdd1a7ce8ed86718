-- The fields of each rollout's row that its format does not own, objects opened, and items of lists.
-- Of an object or a list of the row itself it says that it is there.
-- grain: record_id, path, item_no
-- kind: table
with recursive
words as materialized (
    select
        list(word order by word) filter (where role = 'ignored') as ignored,
        list(word order by place) filter (where role = 'name') as names,
        list(word order by place) filter (where role = 'verdict') as verdicts,
        list(word order by place) filter (where role = 'score') as scores,
        list(word order by place) filter (where role = 'message') as messages
    from raw.record_words
),
fields as (
    -- The row itself has no name twice, and opens three times as fast so.
    select
        record_id,
        '' as parent,
        {'key': key, 'value': nullif(value, 'null')} as entry,
        1 as depth
    from (
        select
            record_id,
            unnest(json_keys(verifier)) as key,
            unnest(json_extract(verifier, '$.*')) as value
        from staging.rollout_keys
        inner join raw.texts using (record_id)
    )
    union all
    select
        record_id,
        parent || entry.key || '.' as parent,
        unnest(map_entries(json_fields(entry.value))) as entry,
        depth + 1 as depth
    from fields
    cross join words
    where
        starts_with(entry.value, '{')
        and depth < 5
        and not list_contains(ignored, lower(entry.key))
),
named as (
    select
        record_id, parent,
        entry.key as name,
        parent || entry.key as path,
        entry.value as value
    from fields
    where length(parent) + length(entry.key) <= 200
),
-- Lists of more than a few hundred items are data, not checks.
items as (
    select
        record_id, parent, name, path,
        unnest(elements) as element,
        generate_subscripts(elements, 1) as item_no
    from (
        select *, from_json(value, '["JSON"]')[1:500] as elements
        from named
        where starts_with(value, '[')
    )
    cross join words
    where not list_contains(ignored, lower(name))
),
opened as (
    select
        items.*,
        json_fields(element) as item,
        list_filter(names, lambda key: item[key] is not null)[1] as name_key,
        list_filter(
            verdicts, lambda key: left(item[key], 1) not in ('{', '[', 'n')
        )[1] as verdict_key,
        list_filter(scores, lambda key: json_as_number(item[key]) is not null)[1] as score_key,
        list_filter(messages, lambda key: left(item[key], 1) = '"')[1] as message_key
    from items
    cross join words
)
select
    record_id, parent, name, path,
    0 as item_no,
    json_type(value) as kind,
    left(json_as_text(value), 400) as value,
    length(json_as_text(value)) as n_characters,
    cast(null as varchar) as item_name,
    cast(null as varchar) as verdict_key,
    cast(null as double) as score,
    cast(null as varchar) as message
from named
where parent = '' or left(value, 1) not in ('{', '[')
union all
select
    record_id, parent, name, path, item_no,
    case when item is null then json_type(element) else 'ITEM' end as kind,
    case
        when item is null then left(json_as_text(element), 400)
        else left(json_as_text(item[coalesce(verdict_key, score_key)]), 100)
    end as value,
    case when item is null then length(json_as_text(element)) end as n_characters,
    case
        when item is not null then left(
            coalesce(json_as_text(item[name_key]), json_field(item[name_key], 'name'), item_no::varchar),
            200
        )
    end as item_name,
    coalesce(verdict_key, score_key) as verdict_key,
    json_as_number(item[score_key]) as score,
    left(json_as_text(item[message_key]), 400) as message
from opened
where
    case
        when item is null then left(element, 1) <> '['
        else coalesce(verdict_key, score_key) is not null and name_key is not null
    end
