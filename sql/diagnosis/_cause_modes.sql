-- Which failure modes speak for which rule of root causes; some only where more holds than the mode.
-- grain: mode, rule
with spoken (mode, rule, is_enough) as (
    values
    ('UNREADABLE_ROW', 'unreadable_rows', true),
    ('VERIFIER_ERROR', 'verifier_error', false),
    ('REFERENCE_CONTRADICTION', 'answer_is_reference', true),
    ('JUDGE_FAILED', 'infrastructure', true),
    ('INFRA_FAILURE', 'infrastructure', true),
    ('SANDBOX_ERROR', 'infrastructure', true),
    ('MODEL_ERROR', 'infrastructure', true),
    ('MISSING_ROW', 'nothing_recorded', true),
    ('LIMIT_TOO_LOW', 'limit_for_all', false),
    ('TRUNCATED', 'limit_for_all', false),
    ('TIMEOUT', 'limit_for_all', false),
    ('TRUNCATED', 'limit_with_room', false),
    ('TIMEOUT', 'limit_with_room', false),
    ('MALFORMED_ARGUMENTS', 'broken_call', true),
    ('RAW_TOOL_CALL', 'broken_call', true),
    ('NO_ACTION', 'no_action', false),
    ('EMPTY_OUTPUT', 'no_action', false),
    ('THRASH', 'repeated_failing_call', true),
    ('ERROR_IGNORED', 'error_ignored', true),
    ('SKIPPED_LOOKUP', 'skipped_lookup', true),
    ('SAME_WRONG_ARGUMENTS', 'same_wrong_call', true),
    ('DROPPED_FILTER', 'dropped_argument', true),
    ('WRONG_ARGUMENTS', 'wrong_actions', true),
    ('EXTRA_WRITE', 'wrong_actions', true),
    ('MISSING_ACTION', 'wrong_actions', true),
    ('GAVE_UP', 'wrong_actions', true),
    ('UNDECLARED_TOOL', 'undeclared_tool', false)
)
select mode, rule, is_enough
from spoken
