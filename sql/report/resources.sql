-- What rollouts cost, passing beside failing.
-- grain: run_id, measure, outcome
select
    *,
    case measure
        when 'input_tokens' then 'input tokens'
        when 'output_tokens' then 'output tokens'
        when 'tool_calls' then 'tool calls'
        when 'duration_s' then 'seconds'
        else measure
    end as label
from main.resource_stats
order by
    run_id,
    case measure
        when 'input_tokens' then 1
        when 'output_tokens' then 2
        when 'turns' then 3
        when 'tool_calls' then 4
        else 5
    end,
    case outcome when 'passed' then 1 else 2 end
