-- What could be done about each run's failures, what could return most first.
-- grain: run_id, intervention
select * from main.interventions order by run_id, rank
