-- Of a task that flipped, the tools that all its passes call and no failure does, and the reverse.
-- grain: flip_no, is_of_passes
with

rollouts as (

    select * from staging.contrast_rollouts where flip_no is not null

),

used as (

    select
        rollouts.flip_no,
        rollouts.record_id,
        rollouts.is_pass,
        calls.tool

    from staging.contrast_calls as calls

    inner join rollouts using (task_no, record_id)

    where calls.tool <> ''

    group by all

),

sides as (

    select
        flip_no,
        is_pass,
        count(*) as n_rollouts

    from rollouts

    group by flip_no, is_pass

),

-- What one side alone calls.
told as (

    select
        flip_no,
        tool,
        min(is_pass) as is_pass,
        count(*) as n_rollouts

    from used

    group by flip_no, tool

    having min(is_pass) = max(is_pass)

),

final as (

    select
        told.flip_no,
        told.is_pass as is_of_passes,
        first_by(left(told.tool, 100), told.tool, 20) as tools

    from told

    inner join sides using (flip_no, is_pass, n_rollouts)

    group by told.flip_no, told.is_pass

)

select * from final
