-- Calls of tools that the benchmark expects, and the expected action of the task that each one is.
-- grain: record_id, seq
-- kind: table
with

expected_tools as (

    select
        run_benchmarks.run_id,
        tools.tool

    from (

        select
            run_benchmarks.benchmark,
            actions.tool

        from staging.expected_actions as actions

        inner join staging.run_benchmarks as run_benchmarks using (run_id)

        group by all

    ) as tools

    inner join staging.run_benchmarks as run_benchmarks using (benchmark)

),

made as (

    select
        keys.run_id,
        keys.task_id,
        calls.record_id,
        calls.seq,
        calls.tool,
        canonical_arguments(calls.arguments) as arguments

    from staging.calls as calls

    inner join staging.rollout_keys as keys using (record_id)

    inner join expected_tools using (run_id, tool)

    where not calls.is_error

),

final as (

    select
        made.run_id,
        made.task_id,
        made.record_id,
        made.seq,
        made.tool,
        md5(made.tool || ' ' || made.arguments) as call_key,
        min(actions.action_no) as action_no

    from made

    left join staging.expected_actions as actions using (run_id, task_id, tool, arguments)

    group by made.run_id, made.task_id, made.record_id, made.seq, made.tool, made.arguments

)

select * from final
