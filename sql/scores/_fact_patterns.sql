-- How many rollouts of a run show the same facts: a digit a stage, 1 where it was seen.
-- grain: run_id, facts, is_pass
-- kind: table
select
    run_id,
    facts,
    is_pass,
    count(*) as n_rollouts
from staging.stage_facts
group by all
