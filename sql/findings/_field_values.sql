-- What the fields of a row literally say, as short values: texts, booleans, null, empty, members of lists.
-- grain: record_id, path, value
-- kind: step
-- needs: staging.entries
with shown as (
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
            when kind = 'VARCHAR' then if(n_characters <= 60, value, '')
            else value
        end as value,
        item_no = 0 and kind not in ('BOOLEAN', 'VARCHAR', 'NULL', 'EMPTY', 'OBJECT', 'ARRAY') as is_number,
        key <> '' or item_no > 0 as is_member
    from staging.entries
    where item is null and path not like '%.*.%'
),
-- Verdicts of named checks are in `checks`.
others as (
    select *
    from shown
    where
        value is not null
        and not (is_member and path in (select source from main.checks))
        -- A map by the id of its own task says nothing.
        and not (is_member and (record_id, substr(value, 5)) in (
            select record_id, value
            from staging.entries
            where item_no = 0 and kind = 'VARCHAR'
        ))
        and parent not in (select source from main.checks)
),
paths as (
    select
        benchmark,
        path,
        -- Numbers are sizes, unless there are only two.
        bool_or(is_number and value not in ('0', '1', '0.0', '1.0')) as is_size,
        count(distinct record_id) as n_rows,
        count(distinct value) filter (where value not in ('is null', 'is empty')) as n_values,
        bool_or(is_member) as is_list
    from others
    inner join staging.rollouts using (record_id)
    inner join staging.run_benchmarks using (run_id)
    group by all
),
-- The answer itself is compared with its key.
answers as (
    select benchmark, path
    from others
    inner join staging.rollouts using (record_id)
    inner join staging.run_benchmarks using (run_id)
    group by benchmark, path
    having count(*) filter (where value = answer) >= 0.5 * count(*)
)
select distinct
    benchmark,
    record_id,
    path,
    value
from others
inner join staging.rollouts using (record_id)
inner join staging.run_benchmarks using (run_id)
inner join paths using (benchmark, path)
anti join answers using (benchmark, path)
where
    value in ('is null', 'is empty')
    -- Ids, times, hashes and texts are distinct in most attempts.
    or value <> '' and not is_size and (is_list or n_values < 0.8 * n_rows)
