-- The rows of a run's ablation in order: as it is, without each mode and all, at best, another run.
-- grain: run_id, step_no
with

metrics as (

    select * from main.run_metrics where pass_at_1 is not null

),

-- With one attempt a task there is no other to count in its stead.
modes as (

    select
        modes.run_id,
        modes.mode,
        modes.place

    from staging.run_modes as modes

    inner join metrics using (run_id)

    where modes.mode <> 'UNEXPLAINED' and metrics.k_max > 1

),

steps as (

    select run_id, 'baseline' as scope, 1 as part, 1 as place, null as mode from metrics

    union all

    select run_id, 'mode' as scope, 2 as part, place, mode from modes

    union all

    select distinct run_id, 'all' as scope, 3 as part, 1 as place, null as mode from modes

    union all

    select run_id, 'oracle' as scope, 4 as part, 1 as place, null as mode from metrics

    union all

    select run_id, 'reference run' as scope, 5 as part, 1 as place, null as mode

    from staging.reference_runs

    inner join metrics using (run_id)

),

final as (

    select
        run_id,
        row_number() over (partition by run_id order by part, place) as step_no,
        scope,
        mode

    from steps

)

select * from final
