-- The ways in which all runs together fail, commonest first, and which root cause most of them suggest.
-- grain: mode
-- needs: main.failure_modes
with counted as (
    select
        modes.mode,
        any_value(modes.title order by modes.run_id) as title,
        any_value(modes.default_cause order by modes.run_id) as default_cause,
        cast(sum(modes.n_rollouts) as bigint) as n_rollouts,
        count(*) as n_runs,
        max(modes.n_rollouts) as n_in_most,
        arg_min(modes.run_id, (-modes.n_rollouts, modes.run_id)) as most_in,
        arg_min(modes.example, (-modes.n_rollouts, modes.run_id)) as example
    from main.failure_modes as modes
    where modes.n_rollouts > 0
    group by modes.mode
),
summed as (
    select
        *,
        cast(sum(n_rollouts) over () as bigint) as n_failures,
        cast(sum(n_rollouts) over (partition by default_cause) as bigint) as n_with_cause,
        mode = 'UNEXPLAINED' as is_unexplained
    from counted
),
ranked as (
    select
        *,
        n_rollouts / nullif(n_failures, 0) as share_of_failures,
        n_with_cause / nullif(n_failures, 0) as share_with_cause,
        row_number() over (order by is_unexplained, n_rollouts desc, mode) as rank,
        row_number() over (
            order by default_cause = 'UNEXPLAINED', n_with_cause desc, default_cause, mode
        ) as cause_rank
    from summed
)
select
    *,
    rank = 1 and not is_unexplained as is_dominant,
    cause_rank = 1 and default_cause <> 'UNEXPLAINED' as has_dominant_cause
from ranked
order by rank
