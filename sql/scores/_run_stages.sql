-- The stages of each run's funnel, without those that none of its benchmark's rollouts can show.
-- grain: run_id, stage_no
-- kind: table
with shown as (
    select runs.benchmark, stages.stage_no
    from staging.fact_patterns as patterns
    inner join main.runs using (run_id)
    cross join raw.funnel_stages as stages
    where substring(patterns.facts, stages.stage_no, 1) = '1'
    group by all
)
select runs.run_id, stages.stage_no, stages.stage
from main.runs
cross join raw.funnel_stages as stages
left join shown using (benchmark, stage_no)
where
    (shown.stage_no is not null or not stages.is_optional)
    and (stages.stage <> 'expected' or runs.n_expected is not null)
    and (stages.stage <> 'passed' or runs.pass_threshold is not null)
