-- The stages of each run's funnel, without those that none of its benchmark's rollouts can show.
-- grain: run_id, stage_no
-- kind: table
with

stages as (

    select * from raw.funnel_stages

),

shown as (

    select
        runs.benchmark,
        stages.stage_no

    from staging.fact_patterns as patterns

    inner join main.runs as runs using (run_id)

    cross join stages

    where substring(patterns.facts, stages.stage_no, 1) = '1'

    group by all

),

final as (

    select
        runs.run_id,
        stages.stage_no,
        stages.stage

    from main.runs as runs

    cross join stages

    left join shown using (benchmark, stage_no)

    where
        (shown.stage_no is not null or not stages.is_optional)
        and (stages.stage <> 'expected' or runs.n_expected is not null)
        and (stages.stage <> 'passed' or runs.pass_threshold is not null)

)

select * from final
