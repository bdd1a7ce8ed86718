-- Which failure modes speak for which rule of root causes.
-- grain: mode
with

spoken (mode, rule) as (

    values
    ('UNREADABLE_ROW', 'unreadable_rows'),
    ('REFERENCE_CONTRADICTION', 'answer_is_reference'),
    ('JUDGE_FAILED', 'infrastructure'),
    ('INFRA_FAILURE', 'infrastructure'),
    ('SANDBOX_ERROR', 'infrastructure'),
    ('MODEL_ERROR', 'infrastructure'),
    ('MISSING_ROW', 'nothing_recorded'),
    ('MALFORMED_ARGUMENTS', 'broken_call'),
    ('RAW_TOOL_CALL', 'broken_call'),
    ('THRASH', 'repeated_failing_call'),
    ('ERROR_IGNORED', 'error_ignored'),
    ('SKIPPED_LOOKUP', 'skipped_lookup'),
    ('SAME_WRONG_ARGUMENTS', 'same_wrong_call'),
    ('DROPPED_FILTER', 'dropped_argument'),
    ('WRONG_ARGUMENTS', 'wrong_actions'),
    ('EXTRA_WRITE', 'wrong_actions'),
    ('MISSING_ACTION', 'wrong_actions'),
    ('GAVE_UP', 'wrong_actions')

),

final as (

    select
        mode,
        rule

    from spoken

)

select * from final
