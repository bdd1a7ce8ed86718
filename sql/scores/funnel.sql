-- How many rollouts of a run reached each stage, and where most were lost.
-- grain: run_id, stage_no
-- kind: table
with counted as (
    select
        run_id,
        stage_no,
        stage,
        coalesce(sum(n_rollouts) filter (is_reached), 0) as n_reached,
        coalesce(sum(n_rollouts) filter (is_observed), 0) as n_observed,
        coalesce(sum(n_rollouts) filter (is_reached and not is_observed), 0) as n_implied,
        coalesce(sum(n_rollouts) filter (is_observed and not is_reached), 0) as n_out_of_order
    from staging.stage_patterns
    group by all
),
stepped as (
    select
        *,
        lag(n_reached) over by_stage as n_before,
        first_value(n_reached) over by_stage as n_first
    from counted
    window by_stage as (partition by run_id order by stage_no)
)
select
    run_id,
    stage_no,
    stage,
    cast(n_reached as bigint) as n_reached,
    cast(coalesce(n_before - n_reached, 0) as bigint) as n_lost,
    n_reached / nullif(n_first, 0) as reach_rate,
    n_reached / nullif(n_before, 0) as step_rate,
    case
        when n_before > n_reached then row_number() over (
            partition by run_id order by n_before - n_reached desc nulls last, stage_no
        )
    end as drop_rank,
    cast(n_observed as bigint) as n_observed,
    cast(n_implied as bigint) as n_implied,
    cast(n_out_of_order as bigint) as n_out_of_order
from stepped
