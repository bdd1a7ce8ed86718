-- What the verifier's fields say of a rollout, beside its reward.
-- grain: record_id
-- kind: table
with rollouts as (
    select
        record_id,
        answer,
        cast(verifier as varchar) as verifier,
        verifier_fields(verifier) as fields
    from main.rollouts
),
logged as (
    select
        *,
        check_log(fields) as log
    from rollouts
),
read as (
    select
        record_id,
        answer,
        left(verifier_reason(fields), 400) as verifier_text,
        left(verifier_fault(fields), 400) as verifier_error,
        left(sandbox_fault(fields), 400) as sandbox_error,
        reference_answer(fields) as reference,
        coalesce(verifier_found_none(fields), false) as is_unparsed,
        coalesce(verifier_timed_out(fields), false) as is_timed_out,
        coalesce(verifier_overran(fields), false) as is_overrun,
        exit_code(fields) as exit_code,
        checks_passed(fields, log) as n_checks_passed,
        checks_failed(fields, log) as n_checks_failed,
        has_null_answer(verifier) as has_null_answer
    from logged
)
select
    record_id,
    verifier_text,
    verifier_error,
    sandbox_error,
    is_unparsed or (answer is null and has_null_answer) as is_unextracted,
    is_timed_out,
    is_overrun,
    exit_code,
    case when n_checks_failed is not null then n_checks_passed end as n_checks_passed,
    case when n_checks_passed is not null then n_checks_failed end as n_checks_failed,
    left(reference, 400) as reference,
    comparable(answer) = comparable(reference) as is_reference,
    -- A single character is within too much.
    length(as_words(answer)) >= 4
        and strpos(as_words(reference), as_words(answer)) > 0 as is_within_reference
from read
