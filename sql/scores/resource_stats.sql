-- What rollouts cost, by how they ended: tokens, turns, tool calls and seconds.
-- grain: run_id, outcome, measure
-- kind: table
with rollouts as (
    select
        *,
        case when is_pass then 'passed' when not is_pass then 'failed' else 'unsettled' end as outcome
    from main.rollouts
    where is_scored
),
measured as (
    select run_id, outcome, 'input_tokens' as measure, cast(input_tokens as double) as value
    from rollouts where input_tokens is not null
    union all
    select run_id, outcome, 'output_tokens' as measure, cast(output_tokens as double) as value
    from rollouts where output_tokens is not null
    union all
    select run_id, outcome, 'turns' as measure, cast(n_turns as double) as value
    from rollouts where n_turns is not null
    union all
    select run_id, outcome, 'tool_calls' as measure, cast(n_tool_calls as double) as value
    from rollouts where n_tool_calls is not null
    union all
    select run_id, outcome, 'duration_s' as measure, duration_s as value
    from rollouts where duration_s is not null
),
collected as (
    select
        run_id,
        outcome,
        measure,
        sorted_list(value) as sorted
    from measured
    group by all
)
select
    run_id,
    outcome,
    measure,
    length(sorted) as n_rollouts,
    sorted_quantile(sorted, 0.5) as median,
    list_total(sorted) / length(sorted) as mean,
    sorted_quantile(sorted, 0.9) as p90,
    list_max(sorted) as max
from collected
