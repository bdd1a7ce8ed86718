-- What a failing rollout leaves out though every pass of its task does it: a call, or an argument.
-- grain: record_id
-- kind: table
with

failing as (

    select
        rollouts.record_id,
        run_benchmarks.benchmark,
        rollouts.task_id

    from main.rollouts as rollouts

    inner join staging.run_benchmarks as run_benchmarks using (run_id)

    where rollouts.is_scored and not rollouts.is_pass

),

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

habits as (

    select
        failing.record_id,
        passing.tool,
        passing.argument,
        passing.n_passes,
        tools.seq as tool_seq,
        uses.seq as seq

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

),

final as (

    select
        record_id,
        min(tool) filter (where argument = '' and tool_seq is null and n_passes > 1) as missing_call,
        min(tool || '.' || argument) filter (where tool_seq is not null and seq is null)
            as missing_argument,
        min(tool_seq) filter (where seq is null) as missing_argument_seq

    from habits

    where seq is null

    group by record_id

)

select * from final
