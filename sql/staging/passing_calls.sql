-- Tools, and arguments of tools, that every passing rollout of a task uses.
-- grain: benchmark, task_id, tool, argument
-- kind: table
with

passes as (

    select
        run_benchmarks.benchmark,
        rollouts.task_id,
        rollouts.record_id

    from main.rollouts as rollouts

    inner join staging.run_benchmarks as run_benchmarks using (run_id)

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
used as (

    select
        calls.record_id,
        calls.tool,
        unnest(list_append(argument_names(calls.arguments), '')) as argument

    from staging.calls as calls

    inner join passes using (record_id)

    where not calls.is_error and calls.tool <> ''

),

final as (

    select
        passes.benchmark,
        passes.task_id,
        used.tool,
        used.argument,
        counted.n_passes

    from used

    inner join passes using (record_id)

    inner join counted using (benchmark, task_id)

    -- What one pass does may be chance.
    where counted.n_passes > 1

    group by passes.benchmark, passes.task_id, used.tool, used.argument, counted.n_passes

    having count(distinct used.record_id) = counted.n_passes

)

select * from final
