-- What pass@1 gains when each task counts only its attempts without a mode, or without any.
-- grain: run_id, scope, name
with

-- Only failing attempts have modes: a task that passes has attempts without, and severity, which
-- would choose among attempts that all have the mode, has nothing to choose. Others gain nothing.
tallies as (

    select * from staging.mode_tallies where scope in ('mode', 'all') and n_passed > 0

),

sums as (

    select
        run_id,
        scope,
        name,
        sorted_sum(
            n_tasks * (n_passed / nullif(n_scored - n_matching, 0) - n_passed / nullif(n_scored, 0))
        ) as total

    from tallies

    group by all

),

final as (

    select
        sums.run_id,
        sums.scope,
        sums.name,
        sums.total / nullif(metrics.n_scored_tasks, 0) as gain

    from sums

    inner join main.run_metrics as metrics using (run_id)

)

select * from final
