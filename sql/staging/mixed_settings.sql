-- What should be one thing in a run and is several: its model, its sampling, its skills.
-- grain: run_id, name
with

rows_read as (

    select
        keys.run_id,
        records.model,
        records.temperature,
        records.top_p,
        records.max_output_tokens,
        records.skills_hash,
        count(*) as n_rows

    from staging.rollout_keys as keys

    inner join staging.records as records using (record_id)

    group by all

),

listed as (

    select
        run_id,
        'model' as name,
        model as value

    from rows_read

    union all

    select
        run_id,
        'temperature' as name,
        cast(temperature as varchar) as value

    from rows_read

    union all

    select
        run_id,
        'top_p' as name,
        cast(top_p as varchar) as value

    from rows_read

    union all

    select
        run_id,
        'max_output_tokens' as name,
        cast(max_output_tokens as varchar) as value

    from rows_read

    union all

    select
        run_id,
        'skills_hash' as name,
        skills_hash as value

    from rows_read

),

final as (

    select
        run_id,
        name,
        count(distinct value) as n_values,
        string_agg(distinct value, ', ' order by value) as all_values

    from listed

    group by all

    having count(distinct value) > 1

)

select * from final
