-- Where a rollout with these facts stopped: before the first stage it does not show, unless it passed.
-- grain: run_id, facts, is_pass
-- kind: table
with ends as (
    select
        patterns.run_id,
        patterns.facts,
        patterns.is_pass,
        min(stages.stage_no) filter (
            where
                substring(patterns.facts, stages.stage_no, 1) = '0'
                -- A pass has gone through every stage, but passing makes nothing expected.
                and (not patterns.is_pass or stages.stage = 'expected')
        ) as missed_no
    from staging.fact_patterns as patterns
    inner join staging.run_stages as stages using (run_id)
    group by patterns.run_id, patterns.facts, patterns.is_pass
)
select
    ends.run_id,
    ends.facts,
    ends.is_pass,
    max(stages.stage_no) as last_stage_no
from ends
inner join staging.run_stages as stages
    on stages.run_id = ends.run_id
    and (ends.missed_no is null or stages.stage_no < ends.missed_no)
group by ends.run_id, ends.facts, ends.is_pass
