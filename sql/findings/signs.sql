-- Literal observations of each rollout, and whether their field or check only says the score again.
-- Which fields do is counted over all attempts of the benchmark (`pipeline.analysis.modes`), after the signs.
-- grain: run_id, task_id, rollout_index, kind, name, value
-- looks at: run
-- needs: staging.signs
select
    signs.*,
    verdicts.mode is not null as is_verdict
from staging.signs
inner join staging.run_benchmarks using (run_id)
left join staging.modes as verdicts
    on verdicts.benchmark = run_benchmarks.benchmark
    and verdicts.kind = signs.kind
    and verdicts.name = signs.name
    and verdicts.reason in ('same as score', 'part of score')
order by run_id, task_id, rollout_index, kind, name, value
