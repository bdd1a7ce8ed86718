"""The queries behind the table of fields: what each holds, whose it is, what goes with it."""

from __future__ import annotations

ENTRIES = """
    rows_read as (
        select rollouts.run_id, rollouts.task_id, rollouts.is_pass, records.record_id,
            json_fields(records.verifier) as fields
        from raw.records as records
        inner join main.rollouts as rollouts using (record_id)
    ),
    top as (
        select * exclude (fields), unnest(map_entries(fields)) as entry from rows_read
    ),
    entries as (
        select * exclude (entry), entry.key as path, entry.value as value, false as is_nested
        from top
        union all
        select * exclude (entry, parent), parent || '.' || entry.key, entry.value, true
        from (
            select * exclude (entry), entry.key as parent,
                unnest(map_entries(json_fields(entry.value))) as entry
            from top
            where json_type(entry.value) = 'OBJECT'
        )
    )
"""
FIELDS = f"""
    with {ENTRIES},
    tasks as (
        select path, run_id, task_id, count(distinct hash(value)) as n_values, count(*) as n_rows
        from entries group by all
    ),
    constancy as (
        select path,
            count(*) filter (where n_values > 1) as n_varying_tasks,
            count(*) filter (where n_rows > 1) as n_repeated_tasks
        from tasks group by all
    ),
    seen as (
        select path, bool_and(is_nested) as is_nested,
            count(distinct hash(value)) = 1 and count(*) > 1
                and count(*) = (select count(*) from rows_read) as is_constant,
            count(*) filter (where json_type(value) != 'NULL') as n_rows,
            list(distinct json_type(value)) as types,
            arg_min(left(value::varchar, ?), record_id)
                filter (where json_type(value) != 'NULL') as example
        from entries group by all
    )
    select seen.*, constancy.n_varying_tasks, constancy.n_repeated_tasks,
        regexp_matches(lower(split_part(path, '.', -1)), '^(expected_.*|ground_truth.*|gt|gold.*|'
            || 'reference|reference_.*|answer|answer_key|correct_answer|label|solution|target)$')
            as is_truth
    from seen inner join constancy using (path)
    order by path
"""
INPUT_FIELDS = """
    with read as (
        select json_fields(verifier) as fields from raw.records
        where not has_reward and not has_response
    ),
    top as (select unnest(map_entries(fields)) as entry from read)
    select distinct entry.key as path from top
    union
    select distinct entry.key || '.' || unnest(map_keys(json_fields(entry.value))) from top
    where json_type(entry.value) = 'OBJECT'
"""
HAS_INPUTS = """
    select count(*) > 0 from raw.records where not has_reward and not has_response
"""
VALUES = f"""
    with {ENTRIES},
    valued as (
        select path, left(value::varchar, 60) as value,
            count(*) filter (where is_pass) as n_passed,
            count(*) filter (where not is_pass) as n_failed
        from entries
        where is_pass is not null and json_type(value) in ('BOOLEAN', 'BIGINT', 'UBIGINT', 'DOUBLE')
        group by all
    )
    select * from valued
    where path in (select path from valued group by path having count(*) <= ?)
    order by path, value
"""
MEDIANS = f"""
    with {ENTRIES},
    numbers as (
        select path, is_pass, try_cast(value::varchar as double) as number
        from entries
        where is_pass is not null and json_type(value) in ('BIGINT', 'UBIGINT', 'DOUBLE')
    )
    select path, median(number) filter (where is_pass) as passed,
        median(number) filter (where not is_pass) as failed
    from numbers
    group by path
    having passed != failed
        -- One or two of a kind say nothing of a middle.
        and count(*) filter (where is_pass) > 2 and count(*) filter (where not is_pass) > 2
    order by path
"""
