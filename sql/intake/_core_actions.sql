-- What trying means in a benchmark: calling a tool where any rollout does, else answering.
-- grain: benchmark
select
    run_benchmarks.benchmark,
    count(*) filter (where signs.has_call) > 0 as is_tool_call
from staging.run_benchmarks
left join staging.rollout_keys as keys using (run_id)
left join staging.signs using (record_id)
group by all
