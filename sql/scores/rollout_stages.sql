-- How far each expected or recorded rollout got: its last stage, and all the facts it showed.
-- grain: run_id, task_id, rollout_index
-- looks at: task
with reached as (
    select
        run_id,
        facts,
        is_pass,
        stage_no,
        stage
    from (select distinct run_id, facts, is_pass from staging.stage_facts) as patterns
    inner join main.funnel using (run_id)
    qualify bool_and(shows_stage(facts, is_pass, stage_no, stage)) over (
        partition by run_id, facts, is_pass order by stage_no
    )
),
ends as (
    select
        run_id,
        facts,
        is_pass,
        max(stage_no) as last_stage_no,
        max_by(stage, stage_no) as last_stage
    from reached
    group by all
)
select
    run_id,
    task_id,
    rollout_index,
    ends.last_stage_no,
    ends.last_stage,
    facts
from staging.stage_facts
left join ends using (run_id, facts, is_pass)
order by run_id, task_id, rollout_index
