-- Calls, and arguments of calls, that a failing rollout leaves out though every pass has them.
-- grain: record_id, tool, argument
-- kind: table
with failing as (
    select
        rollouts.record_id,
        rollouts.run_id,
        run_benchmarks.benchmark,
        rollouts.task_id
    from main.rollouts
    inner join staging.run_benchmarks using (run_id)
    where rollouts.is_scored and not rollouts.is_pass
),
-- The tool itself is the argument ''.
used as (
    select
        calls.record_id,
        calls.tool,
        calls.seq,
        unnest(list_append(argument_names(calls.arguments), '')) as argument
    from staging.calls
    inner join failing using (record_id)
    where not calls.is_malformed
),
first_uses as (
    select
        record_id,
        tool,
        argument,
        min(seq) as seq
    from used
    group by all
),
passes as (
    select run_benchmarks.benchmark, rollouts.task_id, rollouts.record_id
    from main.rollouts
    inner join staging.run_benchmarks using (run_id)
    where rollouts.is_pass
),
counted as (
    select
        benchmark,
        task_id,
        count(*) as n_passes
    from passes
    group by all
),
-- A pass through a failing call proves nothing about it. The tool itself is the argument ''.
passing_calls_used as (
    select
        calls.record_id,
        calls.tool,
        unnest(list_append(argument_names(calls.arguments), '')) as argument
    from staging.calls
    inner join passes using (record_id)
    where not calls.is_error and calls.tool <> ''
),
-- Tools, and arguments of tools, that every passing rollout of a task uses.
passing_calls as (
    select passes.benchmark, passes.task_id, used.tool, used.argument, counted.n_passes
    from passing_calls_used as used
    inner join passes using (record_id)
    inner join counted using (benchmark, task_id)
    -- What one pass does may be chance.
    where counted.n_passes > 1
    group by passes.benchmark, passes.task_id, used.tool, used.argument, counted.n_passes
    having count(distinct used.record_id) = counted.n_passes
)
select
    failing.record_id,
    failing.run_id,
    failing.task_id,
    passing.tool,
    passing.argument,
    tools.seq as tool_seq
from failing
inner join passing_calls as passing using (benchmark, task_id)
left join first_uses as tools
    on tools.record_id = failing.record_id
    and tools.tool = passing.tool
    and tools.argument = ''
left join first_uses as uses
    on uses.record_id = failing.record_id
    and uses.tool = passing.tool
    and uses.argument = passing.argument
where uses.seq is null
