-- The calls of every rollout by its key, and whether each one counts: changes something, and worked.
-- grain: record_id, seq
-- kind: table
with benchmarks as (
    select benchmark
    from staging.consequential_tools
    group by all
)
select
    keys.run_id,
    keys.task_id,
    keys.rollout_index,
    calls.record_id,
    calls.seq,
    calls.tool,
    calls.arguments,
    calls.is_malformed,
    calls.result_seq,
    calls.is_error,
    -- Where nothing says which tools change something, any may.
    benchmarks.benchmark is null or tools.tool is not null as is_consequential,
    tools.tool is not null as is_expected_tool
from staging.calls
inner join staging.rollout_keys as keys using (record_id)
inner join staging.run_benchmarks using (run_id)
left join benchmarks using (benchmark)
left join staging.consequential_tools as tools
    on tools.benchmark = run_benchmarks.benchmark
    and tools.tool = calls.tool
