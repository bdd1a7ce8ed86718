-- What the verifier's fields say of a rollout, beside its reward.
-- grain: record_id
-- kind: table
with

rollouts as (

    select
        record_id,
        answer,
        is_pass,
        cast(verifier as varchar) as verifier

    from main.rollouts

),

read as (

    select
        record_id,
        answer,
        left(verifier_reason(verifier), 400) as verifier_text,
        left(verifier_fault(verifier), 400) as verifier_error,
        left(sandbox_fault(verifier), 400) as sandbox_error,
        reference_answer(verifier) as reference,
        coalesce(verifier_found_none(verifier), false) as is_unparsed,
        coalesce(verifier_timed_out(verifier), false) as is_timed_out,
        coalesce(verifier_overran(verifier), false) as is_overrun,
        exit_code(verifier) as exit_code,
        checks_passed(verifier) as n_checks_passed,
        checks_failed(verifier) as n_checks_failed,
        regexp_matches(verifier, '"(extracted|parsed|predicted)_[a-z_]+":null') as has_null_answer

    from rollouts

),

final as (

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
        length(comparable(answer)) >= 2
            and regexp_matches(comparable(reference), '[^0-9.]|....')
            and strpos(comparable(reference), comparable(answer)) > 0 as is_within_reference

    from read

)

select * from final
