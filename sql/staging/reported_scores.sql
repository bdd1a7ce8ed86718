-- The repeats of each task by the score that pass figures are of, in the order of the repeats.
-- grain: run_id, shard, field, task_id
-- kind: table
with

numbers as (

    select * from staging.reported_numbers

),

wanted as (

    select distinct
        figures.run_id,
        figures.shard,
        figures.field,
        scopes.pass_threshold

    from staging.reported_figures as figures

    inner join staging.reported_scopes as scopes using (run_id, shard)

    where figures.k is not null

),

final as (

    select
        numbers.run_id,
        numbers.shard,
        numbers.field,
        numbers.task_id,
        count(*) as n_scored,
        case
            when max(wanted.pass_threshold) is not null
                then count(*) filter (where numbers.value >= wanted.pass_threshold - 1e-9)
        end as n_passed,
        max(case when numbers.value in (0, 1) then 0 else 1 end) = 1 as is_graded,
        values_by(numbers.value, numbers.rollout_index) as scores

    from numbers

    inner join wanted using (run_id, shard, field)

    group by numbers.run_id, numbers.shard, numbers.field, numbers.task_id

)

select * from final
