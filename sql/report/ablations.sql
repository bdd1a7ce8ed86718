-- The steps of each run's ablation, in order.
-- grain: run_id, step_no
select * from main.ablation order by run_id, step_no
