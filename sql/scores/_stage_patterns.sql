-- How many rollouts of a run show the same facts, a digit each, and which stages that reaches.
-- grain: run_id, stage_no, facts, is_pass
-- kind: table
with patterns as (
    select run_id, facts, is_pass, count(*) as n_rollouts
    from staging.stage_facts
    group by all
),
shown as (
    select distinct runs.benchmark, stages.stage_no
    from patterns
    inner join main.runs using (run_id)
    inner join raw.funnel_stages as stages on substring(patterns.facts, stages.stage_no, 1) = '1'
),
-- The stages of each run's funnel, without those that none of its benchmark's rollouts can show.
stages as (
    select runs.run_id, stages.stage_no, stages.stage
    from main.runs
    cross join raw.funnel_stages as stages
    left join shown using (benchmark, stage_no)
    where
        (shown.stage_no is not null or not stages.is_optional)
        and (stages.stage <> 'expected' or runs.n_expected is not null)
        and (stages.stage <> 'passed' or runs.pass_threshold is not null)
),
-- A run without any rollout has stages too, and no facts.
seen as (
    select
        run_id,
        stages.stage_no,
        stages.stage,
        patterns.facts,
        patterns.is_pass,
        coalesce(patterns.n_rollouts, 0) as n_rollouts,
        coalesce(substring(patterns.facts, stages.stage_no, 1) = '1', false) as is_observed
    from stages
    left join patterns using (run_id)
)
select
    *,
    -- A pass has gone through every stage, but passing makes nothing expected; a later stage alone
    -- does not make up for one.
    bool_and(is_observed or (coalesce(is_pass, false) and stage <> 'expected')) over (
        partition by run_id, facts, is_pass order by stage_no
    ) as is_reached
from seen
