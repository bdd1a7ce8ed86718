-- What a rollout's row says beside its reward, where it says anything: the verifier's fields, last words.
-- grain: record_id
-- kind: table
with
-- The row's own fields that rules read, in the order in which one goes before another.
fields as (
    select
        record_id, words.role, words.place, entries.value,
        entries.value = 'true' as is_true,
        -- Not empty, and no word for "nothing happened".
        regexp_matches(entries.value, '\S')
            and lower(trim(left(entries.value, 20))) not in (
                'none', 'null', 'nan', 'ok', 'no', 'false', 'correct', 'passed', 'pass', 'success',
                'other', 'unknown', 'n/a'
            ) as is_telling
    from staging.record_entries as entries
    inner join raw.record_words as words on words.word = entries.name
    where
        entries.parent = '' and entries.item_no = 0 and entries.value is not null
        and words.role in (
            'says', 'verifier_error', 'sandbox_error', 'verifier_unusable', 'timed_out', 'overrun',
            'unparsed', 'parsed_if', 'reference', 'exit_code', 'n_passed', 'n_failed', 'n_checks'
        )
),
said as (
    select
        record_id,
        arg_min(value, place) filter (where role = 'says' and is_telling) as verifier_text,
        coalesce(
            arg_min(value, place) filter (where role = 'verifier_error' and is_telling),
            case
                when bool_or(is_true) filter (where role = 'verifier_unusable')
                    then 'the verifier marks its own answer as unusable'
            end
        ) as verifier_error,
        arg_min(value, place) filter (where role = 'sandbox_error' and is_telling) as sandbox_error,
        coalesce(bool_or(is_true) filter (where role = 'timed_out'), false) as is_timed_out,
        coalesce(bool_or(is_true) filter (where role = 'overrun'), false) as is_overrun,
        coalesce(bool_or(is_true) filter (where role = 'unparsed'), false)
            or coalesce(bool_or(value = 'false') filter (where role = 'parsed_if'), false) as is_unparsed,
        arg_min(value, place) filter (where role = 'reference' and regexp_matches(value, '\S')) as reference,
        arg_min(try_cast(value as bigint), place) filter (
            where role = 'exit_code' and regexp_matches(value, '^-?[0-9]+([.]0+)?$')
        ) as exit_code,
        arg_min(try_cast(value as bigint), place) filter (where role = 'n_passed') as n_passed,
        coalesce(
            arg_min(try_cast(value as bigint), place) filter (where role = 'n_failed'),
            arg_min(try_cast(value as bigint), place) filter (where role = 'n_checks') - n_passed
        ) as n_failed
    from fields
    group by all
),
read as (
    select
        record_id, is_pass, answer, final_text, verifier,
        cast(rollouts.last_message_seq as bigint) as final_text_seq,
        -- The error of the model's call is an object or a text.
        case
            when records.response_error is not null then first_telling(list_append(
                json_extract(records.response_error, ['$.message', '$.code', '$.type']),
                records.response_error
            ))
        end as model_error,
        said.* exclude (record_id, n_passed, n_failed),
        -- What its own checks printed: the last figures, PASS=4 FAIL=6, or 4 passed, 6 failed.
        -- What every match ends in is asked first: it is found ten times as fast.
        case
            when
                (
                    contains(verifier, 'put"') or contains(verifier, 'log"')
                    or contains(verifier, 'out"') or contains(verifier, 'err"')
                )
                and regexp_matches(verifier, '"\w*(output|log|stdout|stderr)"\s*:\s*"')
                then verifier
        end as log,
        coalesce(
            said.n_passed,
            try_cast(regexp_extract(log, '(?is).*\bpass(?:ed)?\s*[=:]\s*(\d{1,9})\b', 1) as bigint),
            try_cast(regexp_extract(log, '(?is).*\b(\d{1,9}) passed\b', 1) as bigint)
        ) as n_passed,
        coalesce(
            said.n_failed,
            try_cast(regexp_extract(log, '(?is).*\bfail(?:ed)?\s*[=:]\s*(\d{1,9})\b', 1) as bigint),
            try_cast(regexp_extract(log, '(?is).*\b(\d{1,9}) failed\b', 1) as bigint)
        ) as n_failed
    from staging.rollouts
    inner join raw.texts using (record_id)
    left join staging.final_texts using (record_id)
    left join staging.records using (record_id)
    left join said using (record_id)
)
select
    record_id, verifier_text, verifier_error, sandbox_error,
    left(model_error, 400) as model_error,
    -- Of a pass the text tells why it passed.
    error_signature(
        coalesce(verifier_error, sandbox_error, if(coalesce(is_pass, false), null, verifier_text))
    ) as signature,
    coalesce(is_timed_out, false) as is_timed_out,
    coalesce(is_overrun, false) or coalesce(
        regexp_matches(
            model_error,
            '(?i)\bcontext[ _](length|window|size)|too many tokens|(prompt|input) is too long'
        ),
        false
    ) as is_overrun,
    exit_code,
    case when n_failed is not null then n_passed end as n_checks_passed,
    case when n_passed is not null then n_failed end as n_checks_failed,
    reference,
    case when reference is not null then comparable(answer) = comparable(reference) end
        as is_reference,
    case
        when is_unparsed then true
        -- A field that should hold the answer is null. Below the top the names mean other things.
        when
            answer is null
            and regexp_matches(verifier, '"(extracted|parsed|predicted)_[a-z_]+"\s*:\s*null')
            then len(list_filter(
                json_keys(verifier),
                lambda name: regexp_matches(name, '^(extracted|parsed|predicted)_[a-z_]+$')
                    and json_type(verifier, '$."' || name || '"') = 'NULL'
            )) > 0
        else false
    end as is_unextracted,
    length(final_text) as n_final_characters,
    final_text_seq,
    -- Words are weak evidence: each is crossed with passes and failures.
    is_refusal(left(final_text, 600)) as is_refusal,
    regexp_matches(
        right(final_text, 2000),
        '<\|?tool_calls?(_begin)?\|?>|<function_calls?>|<function=|\[TOOL_CALLS?\]|<invoke name='
    ) as is_raw_call,
    admits_failure(right(final_text, 600)) as admits_failure
from read
where
    coalesce(is_timed_out, false)
    or coalesce(is_overrun, false)
    or coalesce(is_unparsed, false)
    or answer is null
    or coalesce(
        verifier_text, verifier_error, sandbox_error, model_error, reference,
        exit_code::varchar, n_passed::varchar, n_failed::varchar, final_text_seq::varchar
    ) is not null
