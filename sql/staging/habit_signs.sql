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

-- `tool_seq` is null where the tool was never called at all.
left_out as (

    select
        failing.record_id,
        passing.tool,
        passing.argument,
        passing.n_passes,
        tools.seq as tool_seq,
        row_number() over (
            partition by failing.record_id order by tools.seq nulls last, passing.tool, passing.argument
        ) as rank

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

),

final as (

    select
        record_id,
        min(tool) filter (where argument = '' and n_passes > 1) as missing_call,
        min(tool || '.' || argument) filter (where rank = 1 and tool_seq is not null)
            as missing_argument,
        min(tool_seq) filter (where rank = 1) as missing_argument_seq

    from left_out

    group by record_id

)

select * from final
