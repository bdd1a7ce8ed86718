-- What the tests of a binary feature need, summed over a run's sometimes-pass tasks.
-- grain: run_id, feature
with

-- Of the passes a did it and b did not, of the failures c and d.
tallies as (

    select
        *,
        n_with_passed as a,
        n_passed - n_with_passed as b,
        n_with_failed as c,
        n_failed - n_with_failed as d,
        n_passed + n_failed as n,
        n_with_passed + n_with_failed as n_with

    from staging.behaviour_tallies

),

terms as (

    select
        *,
        n_with between 1 and n - 1 as is_informative,
        a * d / nullif(n, 0) as up,
        b * c / nullif(n, 0) as down,
        (a + d) / nullif(n, 0) as agreeing,
        (b + c) / nullif(n, 0) as opposing,
        n_passed / nullif(n, 0) * n_failed / nullif(n, 0) * n_with * (n - n_with) / nullif(n - 1, 0)
            as null_variance

    from tallies

),

-- A feature that every rollout has, or none, says nothing. A ratio of 0 or infinity takes its
-- interval from the tasks themselves.
final as (

    select
        run_id,
        feature,
        cast(sum(n_tasks) as bigint) as n_tasks,
        cast(coalesce(sum(n_tasks) filter (where is_informative), 0) as bigint) as n_informative,
        cast(sum(n_tasks * n_with_passed) as bigint) as n_with_passed,
        cast(sum(n_tasks * n_passed) as bigint) as n_passed,
        cast(sum(n_tasks * n_with_failed) as bigint) as n_with_failed,
        cast(sum(n_tasks * n_failed) as bigint) as n_failed,
        sorted_sum(n_tasks * up) as up,
        sorted_sum(n_tasks * down) as down,
        sorted_sum(n_tasks * null_variance) as null_variance,
        sorted_sum(n_tasks * agreeing * up) as spread_up,
        sorted_sum(n_tasks * (agreeing * down + opposing * up)) as spread_across,
        sorted_sum(n_tasks * opposing * down) as spread_down,
        case
            when max(up) = 0 or max(down) = 0 then string_agg(
                case
                    when is_informative
                        then n_passed || ':' || n_failed || ':' || n_with || ':' || n_tasks
                end,
                ' ' order by n_passed, n_failed, n_with
            )
        end as edge_strata

    from terms

    group by run_id, feature

    having sum(n_tasks * n_with) between 1 and sum(n_tasks * n) - 1

)

select * from final
