-- How many failing attempts at a task speak for each rule of root causes; of a mode, the commonest.
-- grain: run_id, task_id, rule
with counted as (
    select
        run_id,
        task_id,
        rule,
        -- Two rules speak for whatever a mode says.
        case when rule in ('profile_mode', 'dominant_mode') then mode else '' end as mode,
        count(*) as n_with,
        count(*) filter (where is_scored) as n_scored_with,
        min(detail) as detail
    from staging.cause_attempts
    group by all
),
ranked as (
    select
        *,
        row_number() over (partition by run_id, task_id, rule order by n_with desc, mode) as rank
    from counted
)
select run_id, task_id, rule, mode, n_with, n_scored_with, detail
from ranked
where rank = 1
