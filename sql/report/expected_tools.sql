-- Expected beside actual, one row per tool: failures and passes that did not call it as expected.
-- grain: benchmark, tool
-- looks at: run
-- needs: main.expected_calls
with
-- The arguments in which failures differ, each with how many of them.
differing as (
    select
        benchmark,
        tool,
        list(argument || ' (' || n || ')' order by n desc, argument)[:4] as arguments
    from (
        select
            benchmark,
            tool,
            argument,
            count(distinct (run_id, task_id, rollout_index)) as n
        from (
            select
                benchmark,
                run_id,
                task_id,
                rollout_index,
                tool,
                unnest(differing_keys) as argument
            from main.expected_calls
            inner join staging.rollouts using (run_id, task_id, rollout_index)
            inner join staging.run_benchmarks using (run_id)
            where expected_calls.status = 'differs' and not is_pass
        )
        group by all
    )
    group by all
),
counted as (
    select
        benchmark,
        tool,
        bool_or(is_write) as is_write,
        max(n_all_failures) as n_all_failures,
        max(n_all_passes) as n_all_passes,
        coalesce(max(n_failures) filter (where status = 'not met'), 0) as n_failures_not_met,
        coalesce(max(n_passes) filter (where status = 'not met'), 0) as n_passes_not_met,
        coalesce(max(n_failures) filter (where status = 'never'), 0) as n_failures_never,
        coalesce(max(n_passes) filter (where status = 'never'), 0) as n_passes_never,
        coalesce(max(n_failures) filter (where status = 'differs'), 0) as n_failures_differs,
        coalesce(max(n_passes) filter (where status = 'differs'), 0) as n_passes_differs,
        coalesce(max(n_failures) filter (where status = 'unasked'), 0) as n_failures_unasked,
        coalesce(max(n_passes) filter (where status = 'unasked'), 0) as n_passes_unasked,
        arg_max(citations[1], n_failures) as citation
    from main.expected_tools
    group by benchmark, tool
)
select
    *,
    coalesce(differing.arguments, []) as differing_arguments,
    -- Best contrast first; of tools that only read, what nobody asked for says little.
    row_number() over (
        partition by benchmark
        order by
            greatest(
                n_failures_not_met / nullif(n_all_failures, 0) - n_passes_not_met / nullif(n_all_passes, 0),
                if(
                    coalesce(is_write, false),
                    n_failures_unasked / nullif(n_all_failures, 0) - n_passes_unasked / nullif(n_all_passes, 0),
                    -1
                )
            ) desc nulls last,
            tool
    ) as rank
from counted
left join differing using (benchmark, tool)
where n_failures_not_met > 0 or n_failures_unasked > 0
order by benchmark, rank
