-- How far each expected or recorded rollout got: its last stage, and all the facts it showed.
-- grain: run_id, task_id, rollout_index
with ends as (
    select
        run_id,
        facts,
        is_pass,
        max(stage_no) as last_stage_no,
        max_by(stage, stage_no) as last_stage
    from staging.stage_patterns
    where is_reached
    group by all
)
select run_id, task_id, rollout_index, ends.last_stage_no, ends.last_stage, facts
from staging.stage_facts
left join ends using (run_id, facts, is_pass)
