-- How far each expected or recorded rollout got: its last stage, and all the facts it showed.
-- grain: run_id, task_id, rollout_index
select
    facts.run_id,
    facts.task_id,
    facts.rollout_index,
    ends.last_stage_no,
    stages.stage as last_stage,
    facts.facts
from staging.stage_facts as facts
left join staging.pattern_ends as ends using (run_id, facts, is_pass)
left join staging.run_stages as stages
    on stages.run_id = facts.run_id
    and stages.stage_no = ends.last_stage_no
