-- What rollouts cost, by how they ended: tokens, turns, tool calls and seconds.
-- grain: run_id, outcome, measure
-- looks at: run
-- kind: table
with measured as (
    select
        run_id,
        case when is_pass then 'passed' when not is_pass then 'failed' else 'unsettled' end as outcome,
        cast(input_tokens as double) as input_tokens,
        cast(output_tokens as double) as output_tokens,
        cast(n_turns as double) as turns,
        cast(n_tool_calls as double) as tool_calls,
        duration_s
    from staging.rollouts
    where is_scored
),
collected as (
    select
        run_id,
        outcome,
        measure,
        list(value order by value) as sorted,
        -- Counted from 0; decimal, so that nine tenths are just that.
        0.9 * (count(*) - 1) as place,
        sorted[cast(floor(place) as bigint) + 1] as below,
        sorted[cast(ceil(place) as bigint) + 1] as above
    from measured
    unpivot (value for measure in (input_tokens, output_tokens, turns, tool_calls, duration_s))
    group by all
)
select
    run_id,
    outcome,
    measure,
    len(sorted) as n_rollouts,
    list_median(sorted) as median,
    list_sum(sorted) / len(sorted) as mean,
    below + (place - floor(place)) * (above - below) as p90,
    list_max(sorted) as max
from collected
