-- How many rollouts of a run reached each stage, and where most were lost.
-- grain: run_id, stage_no
-- looks at: run
-- kind: table
-- `facts` has a character per stage: 1 shown, 0 not shown, ? unknown. A pass has reached all stages (`shows_stage`).
with patterns as (
    select
        run_id,
        facts,
        is_pass,
        count(*) as n_rollouts
    from staging.stage_facts
    group by all
),
-- A stage that more than a tenth of the passes lack is no step on the way.
shown as (
    select
        runs.benchmark,
        stages.stage_no
    from patterns
    inner join main.runs using (run_id)
    cross join raw.funnel_stages as stages
    group by all
    having
        bool_or(substring(patterns.facts, stages.stage_no, 1) = '1')
        and 10 * coalesce(
            sum(patterns.n_rollouts)
                filter (is_pass and substring(patterns.facts, stages.stage_no, 1) = '0'),
            0
        ) <= coalesce(sum(patterns.n_rollouts) filter (is_pass), 0)
),
-- The stages of each run's funnel, without those that its benchmark's rollouts do not show.
stages as (
    select
        run_id,
        stage_no,
        stages.stage
    from main.runs
    cross join raw.funnel_stages as stages
    left join shown using (benchmark, stage_no)
    where
        (shown.stage_no is not null or not stages.is_optional)
        and (stages.stage <> 'expected' or runs.n_expected is not null)
        -- Where rewards are words, what passes is not known.
        and (stages.stage <> 'passed' or runs.pass_threshold is not null and runs.n_scored is distinct from 0)
),
seen as (
    select
        *,
        substring(facts, stage_no, 1) = '1' as is_observed,
        substring(facts, stage_no, 1) = '?' as is_unknown,
        bool_and(shows_stage(facts, is_pass, stage_no, stage)) over (
            partition by run_id, facts, is_pass order by stage_no
        ) as is_reached
    from stages
    left join patterns using (run_id)
),
counted as (
    select
        run_id,
        stage_no,
        stage,
        -- Of a stage that no row of the run could show nothing is known.
        case
            when sum(n_rollouts) filter (is_reached) = sum(n_rollouts) filter (is_reached and is_unknown)
                then null
            else coalesce(sum(n_rollouts) filter (is_reached), 0)
        end as n_reached,
        coalesce(sum(n_rollouts) filter (is_observed), 0) as n_observed,
        coalesce(sum(n_rollouts) filter (is_reached and not is_observed), 0) as n_implied,
        coalesce(sum(n_rollouts) filter (is_observed and not is_reached), 0) as n_out_of_order
    from seen
    group by all
),
stepped as (
    select
        *,
        lag(n_reached ignore nulls) over by_stage as n_before,
        first_value(n_reached) over by_stage as n_first
    from counted
    window by_stage as (partition by run_id order by stage_no)
)
select
    run_id,
    stage_no,
    stage,
    cast(n_reached as bigint) as n_reached,
    cast(case when n_reached is not null then coalesce(n_before - n_reached, 0) end as bigint) as n_lost,
    n_reached / nullif(n_first, 0) as reach_rate,
    n_reached / nullif(n_before, 0) as step_rate,
    n_lost / nullif(n_first, 0) as lost_rate,
    cast(n_first as bigint) as n_first,
    case
        when n_before > n_reached then row_number() over (
            partition by run_id order by n_before - n_reached desc nulls last, stage_no
        )
    end as drop_rank,
    cast(n_observed as bigint) as n_observed,
    cast(n_implied as bigint) as n_implied,
    cast(n_out_of_order as bigint) as n_out_of_order
from stepped
