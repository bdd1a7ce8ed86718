-- Why a reported figure may be other than ours: why we have none, or what explains a difference.
-- grain: run_id, agent, task_id, metric, source_file
-- kind: table
with

figures as (

    select
        *,
        abs(reported - ours) <= 1e-9 * greatest(1.0, abs(reported), abs(ours)) as is_equal

    from staging.reported_values

),

scopes as (

    select * from staging.reported_scopes

),

-- A file that counts other rollouts than ours, or has tasks that we have not, is of other rows.
other_rows as (

    select
        run_id,
        source_file

    from figures

    where (metric = 'num_rollouts' and not is_equal) or (task_id is not null and n_rollouts = 0)

    group by all

),

final as (

    select
        figures.*,
        case
            when figures.kind = 'other' then 'a figure we do not compute'
            when figures.kind in ('pass', 'average', 'majority') and figures.task_id is not null
                then 'a figure we do not compute'
            when figures.ours is not null then null
            when figures.n_rollouts = 0 then 'no rows to compute it from'
            when figures.kind = 'statistic' and figures.n_readings > 1
                then 'several readings of its name'
            when figures.kind = 'statistic' and figures.n_numbers = 0 then 'field not in the rows'
            when figures.kind = 'pass' and scopes.pass_threshold is null then 'no pass threshold'
            when figures.kind in ('average', 'majority', 'pass') and not figures.is_scored
                then 'field not in the rows'
            when figures.kind = 'majority' then 'field not in the rows'
            when figures.kind = 'pass' then 'no task with that many repeats'
            when figures.kind = 'count' then 'nothing says what was expected'
        end as obstacle,
        case
            when figures.reported is null then 'reported as no number'
            when figures.kind = 'pass' and figures.is_graded
                then 'defined otherwise: the best of the first k rewards'
            when figures.kind = 'pass' and scopes.pass_threshold <> 1
                then 'defined otherwise: only a reward of 1 passes'
            when figures.kind in ('average', 'majority') and figures.is_cut then 'order-dependent'
            when scopes.n_rejects > 0 then 'lines of the rollout file were rejected'
            when figures.kind <> 'count' and other_rows.run_id is not null
                then 'rows of the file are not those it was computed from'
        end as excuse

    from figures

    inner join scopes using (run_id, shard)

    left join other_rows using (run_id, source_file)

)

select * from final
