-- Every feature that varies in a run's sometimes-pass tasks, with the sums its test is made of.
-- grain: run_id, feature
-- kind: table
with

associations as (

    select * from staging.behaviour_associations

),

differences as (

    select * from staging.behaviour_differences

),

final as (

    select
        run_id,
        feature,
        'binary' as kind,
        n_tasks,
        n_informative,
        n_with_passed,
        n_passed,
        n_with_failed,
        n_failed,
        up,
        down,
        null_variance,
        spread_up,
        spread_across,
        spread_down,
        edge_strata,
        cast(null as double) as mean_when_passed,
        cast(null as double) as mean_when_failed,
        cast(null as double) as mean_difference,
        cast(null as double) as se_difference

    from associations

    union all

    select
        run_id,
        feature,
        'number' as kind,
        n_tasks,
        n_informative,
        null as n_with_passed,
        n_passed,
        null as n_with_failed,
        n_failed,
        null as up,
        null as down,
        null as null_variance,
        null as spread_up,
        null as spread_across,
        null as spread_down,
        null as edge_strata,
        mean_when_passed,
        mean_when_failed,
        mean_difference,
        se_difference

    from differences

)

select * from final
