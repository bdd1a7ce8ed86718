-- Calls, and arguments of calls, that a failing rollout leaves out though every pass has them.
-- grain: record_id, tool, argument
-- kind: table
with

failing as (

    select
        rollouts.record_id,
        rollouts.run_id,
        run_benchmarks.benchmark,
        rollouts.task_id

    from main.rollouts as rollouts

    inner join staging.run_benchmarks as run_benchmarks using (run_id)

    where rollouts.is_scored and not rollouts.is_pass

),

-- The tool itself is the argument ''.
used as (

    select
        calls.record_id,
        calls.tool,
        calls.seq,
        unnest(list_append(argument_names(calls.arguments), '')) as argument

    from staging.calls as calls

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

final as (

    select
        failing.record_id,
        failing.run_id,
        failing.task_id,
        passing.tool,
        passing.argument,
        tools.seq as tool_seq

    from failing

    inner join staging.passing_calls as passing using (benchmark, task_id)

    left join first_uses as tools
        on tools.record_id = failing.record_id
        and tools.tool = passing.tool
        and tools.argument = ''

    left join first_uses as uses
        on uses.record_id = failing.record_id
        and uses.tool = passing.tool
        and uses.argument = passing.argument

    where uses.seq is null

)

select * from final
