-- A rollout's changes against those its task expects: made, left out, and beyond.
-- grain: record_id
-- kind: table
with tools as (
    select run_benchmarks.run_id, tools.tool
    from staging.consequential_tools as tools
    inner join staging.run_benchmarks using (benchmark)
),
expected as (
    select
        actions.run_id,
        actions.task_id,
        count(*) as n_actions
    from staging.expected_actions as actions
    inner join tools using (run_id, tool)
    group by all
),
made as (
    select calls.*
    from staging.action_calls as calls
    inner join tools using (run_id, tool)
)
select
    keys.record_id,
    coalesce(expected.n_actions, 0) as n_expected_actions,
    count(distinct made.action_no) as n_matched_actions,
    count(made.seq) filter (where made.action_no is null) as n_unexpected_calls,
    min(made.seq) filter (where made.action_no is null) as unexpected_call_seq,
    min(made.call_key) filter (where made.action_no is null) as unexpected_call_key
from staging.rollout_keys as keys
inner join staging.action_lists as listed using (run_id, task_id)
left join expected using (run_id, task_id)
left join made using (record_id)
group by keys.record_id, expected.n_actions
