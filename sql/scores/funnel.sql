-- How many rollouts of a run reached each stage, and where most were lost.
-- grain: run_id, stage_no
-- kind: table
with patterns as (
    select patterns.run_id, patterns.facts, patterns.n_rollouts, ends.last_stage_no
    from staging.fact_patterns as patterns
    left join staging.pattern_ends as ends using (run_id, facts, is_pass)
),
-- A pass without an observed step still passed it; a later step alone does not make up for one.
counted as (
    select
        stages.run_id,
        stages.stage_no,
        stages.stage,
        coalesce(sum(patterns.n_rollouts) filter (
            where stages.stage_no <= patterns.last_stage_no
        ), 0) as n_reached,
        coalesce(sum(patterns.n_rollouts) filter (
            where substring(patterns.facts, stages.stage_no, 1) = '1'
        ), 0) as n_observed,
        coalesce(sum(patterns.n_rollouts) filter (
            where
                stages.stage_no <= patterns.last_stage_no
                and substring(patterns.facts, stages.stage_no, 1) = '0'
        ), 0) as n_implied,
        coalesce(sum(patterns.n_rollouts) filter (
            where
                stages.stage_no > coalesce(patterns.last_stage_no, 0)
                and substring(patterns.facts, stages.stage_no, 1) = '1'
        ), 0) as n_out_of_order
    from staging.run_stages as stages
    left join patterns using (run_id)
    group by stages.run_id, stages.stage_no, stages.stage
),
stepped as (
    select
        *,
        lag(n_reached) over by_stage as n_before,
        first_value(n_reached) over by_stage as n_first
    from counted
    window by_stage as (partition by run_id order by stage_no)
),
ranked as (
    select
        *,
        row_number() over (
            partition by run_id order by n_before - n_reached desc nulls last, stage_no
        ) as drop_rank
    from stepped
)
select
    run_id,
    stage_no,
    stage,
    cast(n_reached as bigint) as n_reached,
    cast(coalesce(n_before - n_reached, 0) as bigint) as n_lost,
    n_reached / nullif(n_first, 0) as reach_rate,
    n_reached / nullif(n_before, 0) as step_rate,
    case when n_before > n_reached then drop_rank end as drop_rank,
    cast(n_observed as bigint) as n_observed,
    cast(n_implied as bigint) as n_implied,
    cast(n_out_of_order as bigint) as n_out_of_order
from ranked
