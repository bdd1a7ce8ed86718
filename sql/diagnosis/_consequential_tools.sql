-- Tools whose calls change something: expected of a task, and not called at will by those who pass.
-- grain: benchmark, tool
with expected as (
    select run_benchmarks.benchmark, actions.tool
    from staging.expected_actions as actions
    inner join staging.run_benchmarks using (run_id)
    where not is_reading(actions.tool)
    group by all
),
passing as (
    select
        run_benchmarks.benchmark,
        calls.tool,
        calls.record_id,
        count(*) filter (where calls.action_no is null) as n_unexpected
    from staging.action_calls as calls
    inner join main.rollouts using (record_id)
    inner join staging.run_benchmarks
        on run_benchmarks.run_id = calls.run_id
    where rollouts.is_pass
    group by all
),
harmless as (
    select benchmark, tool
    from passing
    group by all
    having count(*) filter (where n_unexpected > 0) * 4 > count(*)
)
select expected.benchmark, expected.tool
from expected
left join harmless using (benchmark, tool)
where harmless.tool is null
