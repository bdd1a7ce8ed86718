-- Rollouts there are and rollouts there should be, by run or shard and by task.
-- grain: run_id, shard, task_id
-- kind: table
with

rows_read as (

    select * from staging.reported_rows

),

places as (

    select
        run_id,
        shard,
        task_id,
        rollout_index,
        max(case when role = 'rollout' then 1 else 0 end) as is_there,
        max(case when role = 'input' and file_kind = 'inputs' then 1 else 0 end) as is_expected

    from rows_read

    group by all

),

scoped as (

    select * from places

    union all

    select
        run_id,
        shard,
        cast(null as varchar) as task_id,
        rollout_index,
        is_there,
        is_expected

    from places

),

counted as (

    select
        run_id,
        shard,
        task_id,
        sum(is_there) as n_rollouts,
        nullif(sum(is_expected), 0) as n_expected,
        sum(is_there * is_expected) as n_done

    from scoped

    group by all

),

final as (

    select
        run_id,
        shard,
        task_id,
        cast(n_rollouts as bigint) as n_rollouts,
        cast(n_expected as bigint) as n_expected,
        cast(n_expected - n_done as bigint) as n_missing,
        100.0 * cast(n_done as double) / n_expected as completion_percent

    from counted

)

select * from final
