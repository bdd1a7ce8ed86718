-- What a rollout's row says beside its reward, where it says anything: the verifier's fields, last words.
-- grain: record_id
-- kind: table
with read as (
    select
        record_id,
        is_pass,
        answer,
        final_text,
        verifier,
        -- All that is asked of the verifier's fields, each as it stands, in one reading.
        try(json_transform(verifier, '{
            "failure_reason": "JSON", "error_message": "JSON", "error_type": "JSON",
            "error_kind": "JSON", "agent_error_kind": "JSON", "error_mode": "JSON",
            "error": "JSON", "reason": "JSON", "notes": "JSON",
            "verifier_error": "JSON", "evaluation_error": "JSON", "verification_error": "JSON",
            "grader_error": "JSON", "judge_error": "JSON", "eval_error": "JSON",
            "invalid_judge_response": "JSON", "eval_timed_out": "JSON", "judge_timed_out": "JSON",
            "sandbox_error": "JSON", "container_error": "JSON", "environment_error": "JSON",
            "agent_timed_out": "JSON", "agent_timeout_error": "JSON", "timed_out": "JSON",
            "is_timeout": "JSON",
            "context_length_exceeded_error": "JSON", "memory_limit_exceeded_error": "JSON",
            "parse_failed": "JSON", "no_answer": "JSON", "extraction_failed": "JSON",
            "extraction_successful": "JSON",
            "expected_answer": "JSON", "ground_truth": "JSON", "reference_answer": "JSON",
            "correct_answer": "JSON", "answer_key": "JSON", "gold_answer": "JSON", "gold": "JSON",
            "target": "JSON", "label": "JSON", "solution": "JSON", "answer": "JSON",
            "exit_code": "JSON", "returncode": "JSON", "return_code": "JSON",
            "container_exit_code": "JSON",
            "num_passed": "JSON", "num_failed": "JSON", "num_total": "JSON",
            "num_steps_passed": "JSON", "num_steps_total": "JSON",
            "num_tests_passed": "JSON", "num_tests": "JSON",
            "tests_passed": "JSON", "tests_total": "JSON",
            "test_output": "JSON", "test_log": "JSON", "verifier_output": "JSON",
            "eval_output": "JSON", "container_stdout": "JSON", "container_stderr": "JSON",
            "stdout": "JSON", "stderr": "JSON", "output": "JSON", "log": "JSON"
        }')) as field,
        records.response_error as error,
        cast(rollouts.last_message_seq as bigint) as final_text_seq
    from staging.rollouts
    inner join raw.texts using (record_id)
    left join staging.final_texts using (record_id)
    left join staging.records using (record_id)
),
-- In lists of lists, since a macro is written out wherever it stands, and planning that takes longer
-- than reading a small run. Most rows have few of these fields: what none of them has is not asked.
asked as (
    select
        * exclude (error, field),
        case
            when coalesce(
                field.failure_reason, field.error_message, field.error_type, field.error_kind,
                field.agent_error_kind, field.error_mode, field.error, field.reason, field.notes,
                field.verifier_error, field.evaluation_error, field.verification_error,
                field.grader_error, field.judge_error, field.eval_error,
                field.sandbox_error, field.container_error, field.environment_error, error
            ) is not null then list_transform(
                [
                    [
                        field.failure_reason, field.error_message, field.error_type,
                        field.error_kind, field.agent_error_kind, field.error_mode, field.error,
                        field.reason, field.notes
                    ],
                    [
                        field.verifier_error, field.evaluation_error, field.verification_error,
                        field.grader_error, field.judge_error, field.eval_error
                    ],
                    [field.sandbox_error, field.container_error, field.environment_error],
                    -- The error of the model's call is an object or a text.
                    list_append(json_extract(error, ['$.message', '$.code', '$.type']), error)
                ],
                lambda found: first_telling(found)
            )
        end as said,
        case
            when coalesce(
                field.invalid_judge_response, field.eval_timed_out, field.judge_timed_out,
                field.agent_timed_out, field.agent_timeout_error, field.timed_out, field.is_timeout,
                field.context_length_exceeded_error, field.memory_limit_exceeded_error,
                field.parse_failed, field.no_answer, field.extraction_failed
            ) is null then [false, false, false, false]
            else list_transform(
                [
                    [field.invalid_judge_response, field.eval_timed_out, field.judge_timed_out],
                    [
                        field.agent_timed_out, field.agent_timeout_error, field.timed_out,
                        field.is_timeout
                    ],
                    [field.context_length_exceeded_error, field.memory_limit_exceeded_error],
                    [field.parse_failed, field.no_answer, field.extraction_failed]
                ],
                lambda found: list_contains(
                    list_transform(found, lambda value: json_as_text(value)), 'true'
                )
            )
        end as is_true,
        cast(field.extraction_successful as varchar) = 'false' as is_unsuccessful,
        -- What the right answer is, under the names inputs give it.
        case
            when coalesce(
                field.expected_answer, field.ground_truth, field.reference_answer,
                field.correct_answer, field.answer_key, field.gold_answer, field.gold,
                field.target, field.label, field.solution, field.answer
            ) is not null then list_filter(
                list_transform(
                    [
                        field.expected_answer, field.ground_truth, field.reference_answer,
                        field.correct_answer, field.answer_key, field.gold_answer, field.gold,
                        field.target, field.label, field.solution, field.answer
                    ],
                    lambda value: json_as_text(value)
                ),
                lambda text: regexp_matches(text, '\S')
            )[1]
        end as reference,
        case
            when coalesce(
                field.exit_code, field.returncode, field.return_code, field.container_exit_code
            ) is not null then list_filter(
                list_transform(
                    [
                        field.exit_code, field.returncode, field.return_code,
                        field.container_exit_code
                    ],
                    lambda value: json_as_integer(value)
                ),
                lambda code: code is not null
            )[1]
        end as exit_code,
        -- Pairs of what passed and what there was.
        case
            when coalesce(
                field.num_failed, field.num_passed, field.num_steps_passed, field.num_tests_passed,
                field.tests_passed
            ) is not null then list_transform(
                [
                    field.num_failed,
                    field.num_passed, field.num_total,
                    field.num_steps_passed, field.num_steps_total,
                    field.num_tests_passed, field.num_tests,
                    field.tests_passed, field.tests_total
                ],
                lambda value: json_as_index(value)
            )
        end as n,
        -- The ends of what its own checks printed, where their figures stand.
        case
            when coalesce(
                field.test_output, field.test_log, field.verifier_output, field.eval_output,
                field.container_stdout, field.container_stderr, field.stdout, field.stderr,
                field.output, field.log
            ) is not null then array_to_string(
                list_transform(
                    [
                        field.test_output, field.test_log, field.verifier_output,
                        field.eval_output, field.container_stdout, field.container_stderr,
                        field.stdout, field.stderr, field.output, field.log
                    ],
                    lambda value: right(json_as_text(value), 4000)
                ),
                e'\n'
            )
        end as log
    from read
),
signs as (
    select
        * exclude (said, is_true, is_unsuccessful, reference, n, log),
        said[1] as verifier_text,
        coalesce(said[2], if(is_true[1], 'the verifier marks its own answer as unusable', null))
            as verifier_error,
        said[3] as sandbox_error,
        said[4] as model_error,
        is_true[2] as is_timed_out,
        is_true[3] or coalesce(
            regexp_matches(
                model_error,
                '(?i)\bcontext[ _](length|window|size)|too many tokens|(prompt|input) is too long'
            ),
            false
        ) as is_overrun,
        is_true[4] or coalesce(is_unsuccessful, false) as is_unparsed,
        reference,
        case when reference is not null then as_words(answer) end as answer_words,
        -- From its counts, or the last figures of its log: PASS=4 FAIL=6, or 4 passed, 6 failed.
        coalesce(
            n[2], n[4], n[6], n[8],
            try_cast(regexp_extract(log, '(?is).*\bpass(?:ed)?\s*[=:]\s*(\d{1,9})\b', 1) as bigint),
            try_cast(regexp_extract(log, '(?is).*\b(\d{1,9}) passed\b', 1) as bigint)
        ) as n_passed,
        coalesce(
            n[1], n[3] - n[2], n[5] - n[4], n[7] - n[6], n[9] - n[8],
            try_cast(regexp_extract(log, '(?is).*\bfail(?:ed)?\s*[=:]\s*(\d{1,9})\b', 1) as bigint),
            try_cast(regexp_extract(log, '(?is).*\b(\d{1,9}) failed\b', 1) as bigint)
        ) as n_failed
    from asked
)
select
    record_id,
    left(verifier_text, 400) as verifier_text,
    left(verifier_error, 400) as verifier_error,
    left(sandbox_error, 400) as sandbox_error,
    left(model_error, 400) as model_error,
    -- Of a pass the text tells why it passed.
    error_signature(
        coalesce(verifier_error, sandbox_error, if(coalesce(is_pass, false), null, verifier_text))
    ) as signature,
    is_timed_out,
    is_overrun,
    exit_code,
    case when n_failed is not null then n_passed end as n_checks_passed,
    case when n_passed is not null then n_failed end as n_checks_failed,
    left(reference, 400) as reference,
    case when reference is not null then comparable(answer) = comparable(reference) end
        as is_reference,
    -- A single character is within too much.
    length(answer_words) >= 4 and strpos(as_words(reference), answer_words) > 0 as is_within_reference,
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
from signs
where
    is_timed_out
    or is_overrun
    or is_unparsed
    or answer is null
    or coalesce(
        verifier_text, verifier_error, sandbox_error, model_error, reference,
        exit_code::varchar, n_passed::varchar, n_failed::varchar, final_text_seq::varchar
    ) is not null
