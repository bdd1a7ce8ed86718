-- The field that names the tasks of a run whose rows have no index: the first that always does.
-- grain: run_id
with

records as (

    select * from staging.run_records where task_index is null

),

offered as (

    select
        run_id,
        record_id,
        unnest(map_entries(json_fields(ids))) as entry

    from records

),

named as (

    select
        run_id,
        entry.key as name,
        count(json_as_text(entry.value)) as n_rows,
        count(json_as_number(entry.value)) as n_numbers

    from offered

    group by all

),

totals as (

    select
        run_id,
        count(*) as n_rows

    from records

    group by all

),

ranked as (

    select
        named.run_id,
        named.name,
        row_number() over (partition by named.run_id order by id_fields.rank) as rank

    from named

    inner join totals using (run_id, n_rows)

    inner join raw.id_fields as id_fields using (name)

    where named.n_numbers in (0, named.n_rows)

),

final as (

    select
        run_id,
        name

    from ranked

    where rank = 1

)

select * from final
