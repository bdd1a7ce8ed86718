-- References of a trajectory that do not lead to just one model call.
-- grain: record_id, check_id, subject
with

gaps as (

    select
        record_id,
        unnest(gaps) as gap

    from staging.trajectories

    where has_reference_gap

),

found as (

    select
        record_id,
        'trajectory_capture_mismatch' as check_id,
        left(coalesce(model_call_id, model_ref || ' ' || response_id), 100) as subject,
        n_calls || ' recorded model calls answer to the reference, not one' as message,
        null as evidence

    from staging.call_references

    where n_calls <> 1

    union all

    select
        record_id,
        'trajectory_capture_mismatch' as check_id,
        gap as subject,
        'the collector could not resolve a reference to a model call' as message,
        'gap ' || gap as evidence

    from gaps

    where regexp_matches(gap, '^model_call_reference_(unmatched|ambiguous|conflict)$')

),

-- Long names are cut, and a gap may be told twice.
final as (

    select
        record_id,
        check_id,
        subject,
        min(message) as message,
        min(evidence) as evidence

    from found

    group by record_id, check_id, subject

)

select * from final
