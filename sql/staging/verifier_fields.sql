-- The fields that a compared run's verifier writes, as some of its rollouts show them.
-- grain: run_id
-- kind: table
with

compared as (

    select run_id from staging.task_sides group by all

),

-- One rollout a task, and no more tasks than tell.
sampled as (

    select
        keys.run_id,
        keys.record_id,
        row_number() over (partition by keys.run_id order by keys.rollout_index, keys.task_id)
            as place

    from staging.rollout_keys as keys

    inner join compared using (run_id)

),

named as (

    select
        sampled.run_id,
        left(unnest(map_keys(json_fields(records.verifier))), 60) as name

    from sampled

    inner join staging.records as records using (record_id)

    where sampled.place <= 100

),

final as (

    select
        run_id,
        string_agg(distinct name, ', ' order by name) as names

    from named

    group by run_id

)

select * from final
