-- The fields of each rollout's row that its format does not own: objects opened, lists by item.
-- A key of a map, an object whose keys differ from row to row, is `*` in the path. Keys may hold dots:
-- `parent` is the path of the object that a field is in, `name` the field's own.
-- grain: record_id, place, item_no
-- looks at: run
-- kind: table
with recursive
fields as (
    -- The row itself has no name twice, and opens three times as fast so.
    select
        benchmark,
        record_id,
        [key] as keys,
        nullif(value, 'null') as value
    from (
        select
            benchmark,
            record_id,
            unnest(json_keys(verifier)) as key,
            unnest(json_extract(verifier, '$.*')) as value
        from staging.rollout_keys
        inner join staging.run_benchmarks using (run_id)
        inner join raw.texts using (record_id)
    )
    union all
    select
        benchmark,
        record_id,
        list_append(keys, entry.key) as keys,
        entry.value as value
    from (
        select
            benchmark,
            record_id,
            keys,
            unnest(map_entries(json_fields(value))) as entry
        from fields
        where starts_with(value, '{') and len(keys) < 7 and length(value) < 200000
    )
),
-- Where an object is, by its own name: what is below a map has paths of its own otherwise.
objects as (
    select
        benchmark,
        keys[-1] as name,
        count(*) as n_objects
    from fields
    where starts_with(value, '{') and value <> '{}'
    group by all
),
maps as (
    select
        benchmark,
        name
    from (
        select
            benchmark,
            keys[-2] as name,
            keys[-1] as key,
            count(*) as n_rows
        from fields
        where len(keys) > 1
        group by all
    )
    inner join objects using (benchmark, name)
    group by benchmark, name
    having max(n_rows) <= 0.5 * max(n_objects) and max(n_objects) > 1
),
-- Each list of keys is looked at once.
paths as (
    select
        benchmark,
        keys,
        array_to_string(keys, chr(31)) as place,
        array_to_string(parts, '.') as path,
        array_to_string(parts[:-2], '.') as parent,
        keys[-1] as name,
        if(parts[-1] = '*', keys[-1], '') as key
    from (
        select
            benchmark,
            keys,
            list_transform(
                keys,
                lambda key, place: if(place > 1 and list_contains(map_names, keys[place - 1]), '*', key)
            ) as parts
        from (
            select distinct
                fields.benchmark,
                keys,
                coalesce(map_names, []) as map_names
            from fields
            left join (select benchmark, list(name) as map_names from maps group by benchmark) using (benchmark)
        )
    )
),
named as (
    select
        record_id,
        paths.* exclude (benchmark, keys),
        value
    from fields
    inner join paths using (benchmark, keys)
    where length(path) <= 200
),
-- A field itself, and the items of a list one by one; of more than a few hundred they are data.
every as (
    select
        *,
        0 as item_no
    from named
    union all by name
    select
        * exclude (value, elements),
        unnest(elements) as value,
        generate_subscripts(elements, 1) as item_no
    from (
        select
            *,
            from_json(value, '["JSON"]')[1:500] as elements
        from named
        where starts_with(value, '[') and value <> '[]' and length(value) < 1000000
    )
)
select
    record_id,
    place,
    path,
    parent,
    name,
    key,
    item_no,
    case
        when item_no > 0 then json_type(value)
        when value is null then 'NULL'
        when value in ('""', '[]', '{}') then 'EMPTY'
        else json_type(value)
    end as kind,
    left(json_as_text(value), 400) as value,
    length(json_as_text(value)) as n_characters,
    -- Its last line says what was raised.
    case
        when item_no = 0 and contains(value, 'Traceback (most')
            then left(regexp_extract(right(json_as_text(value), 2000), '([^\n]*\S)\s*$', 1), 400)
    end as traceback,
    case when item_no > 0 and starts_with(value, '{') and length(value) < 200000 then value end as item
from every
where item_no = 0 or not starts_with(value, '[')
