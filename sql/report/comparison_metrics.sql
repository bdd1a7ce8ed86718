-- What else changed in each comparison, where either run has the figure.
-- grain: base, candidate, metric
select
    *,
    metric like '%rate' or metric like 'pass%' or metric = 'coverage' as is_rate
from main.comparison_metrics
where base_value is not null or candidate_value is not null
order by
    base,
    candidate,
    list_position(
        [
            'pass_at_k', 'pass_hat_k', 'coverage', 'failed_attempt_rate', 'missing_rate',
            'unscored_rate', 'clean_rate', 'input_tokens', 'output_tokens', 'n_turns',
            'n_tool_calls', 'n_tool_errors', 'duration_s'
        ],
        metric
    )
