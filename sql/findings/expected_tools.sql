-- Expected beside actual, one row per tool: failures and passes that did not call it as expected.
-- Counted, not tested: a rare mistake matters to its owner, too.
-- grain: benchmark, tool
-- looks at: run
-- kind: table
-- needs: main.expected_calls
with calls as (
    select
        benchmark,
        tool,
        calls.status,
        calls.status in ('never', 'fewer', 'differs', 'refused') as is_not_met,
        is_write,
        is_pass,
        (run_id, task_id, rollout_index) as attempt,
        run_id || '/' || task_id || ':' || rollout_index || coalesce('#' || seq, '') as citation,
        -- First a call that can be opened.
        (task_id, rollout_index, run_id, seq is null, seq, call_no) as place,
        differing_keys
    from main.expected_calls as calls
    inner join staging.rollouts using (run_id, task_id, rollout_index)
    inner join staging.run_benchmarks using (run_id)
    where is_pass is not null
),
totals as (
    select
        benchmark,
        count(*) filter (where not is_pass) as n_all_failures,
        count(*) filter (where is_pass) as n_all_passes
    from staging.rollouts
    inner join staging.run_benchmarks using (run_id)
    where run_id in (select run_id from main.expected_calls)
    group by all
),
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
            count(distinct attempt) as n
        from (
            select
                *,
                unnest(differing_keys) as argument
            from calls
            where status = 'differs' and not is_pass
        )
        group by all
    )
    group by all
),
counted as (
    select
        benchmark,
        tool,
        bool_or(is_write) filter (where status not in ('made', 'none')) as is_write,
        n_all_failures,
        n_all_passes,
        count(distinct attempt) filter (where is_not_met and not is_pass) as n_failures_not_met,
        count(distinct attempt) filter (where is_not_met and is_pass) as n_passes_not_met,
        count(distinct attempt) filter (where status = 'never' and not is_pass) as n_failures_never,
        count(distinct attempt) filter (where status = 'never' and is_pass) as n_passes_never,
        count(distinct attempt) filter (where status in ('fewer', 'refused') and not is_pass) as n_failures_fewer,
        count(distinct attempt) filter (where status in ('fewer', 'refused') and is_pass) as n_passes_fewer,
        count(distinct attempt) filter (where status = 'differs' and not is_pass) as n_failures_differs,
        count(distinct attempt) filter (where status = 'differs' and is_pass) as n_passes_differs,
        count(distinct attempt) filter (where status = 'unasked' and not is_pass) as n_failures_unasked,
        count(distinct attempt) filter (where status = 'unasked' and is_pass) as n_passes_unasked,
        -- A failing call to open, of what is commoner.
        if(
            n_failures_not_met >= n_failures_unasked,
            arg_min(citation, place) filter (where is_not_met and not is_pass),
            arg_min(citation, place) filter (where status = 'unasked' and not is_pass)
        ) as citation
    from calls
    inner join totals using (benchmark)
    group by benchmark, tool, n_all_failures, n_all_passes
)
select
    counted.*,
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
order by benchmark, tool
