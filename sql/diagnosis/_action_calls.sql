-- Calls of tools that the benchmark expects, and the expected action of the task that each one is.
-- grain: record_id, seq
-- kind: table
with expected_tools as (
    select run_benchmarks.run_id, tools.tool
    from (
        select run_benchmarks.benchmark, actions.tool
        from staging.expected_actions as actions
        inner join staging.run_benchmarks using (run_id)
        group by all
    ) as tools
    inner join staging.run_benchmarks using (benchmark)
),
made as (
    select
        keys.run_id,
        keys.task_id,
        calls.record_id,
        calls.seq,
        calls.tool,
        canonical_arguments(calls.arguments) as arguments
    from staging.calls
    inner join staging.rollout_keys as keys using (record_id)
    inner join expected_tools using (run_id, tool)
    where not calls.is_error
),
-- An action expected once is done by the first such call: the next one is beyond.
counted as (
    select
        *,
        row_number() over (partition by record_id, tool, arguments order by seq) as nth
    from made
)
select
    counted.run_id,
    counted.task_id,
    counted.record_id,
    counted.seq,
    counted.tool,
    md5(counted.tool || ' ' || counted.arguments) as call_key,
    actions.action_no
from counted
left join staging.expected_actions as actions using (run_id, task_id, tool, arguments, nth)
