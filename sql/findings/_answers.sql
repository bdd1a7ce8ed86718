-- The answer of a rollout beside the key it is compared with, where the record shows which is which.
-- grain: record_id
-- kind: step
-- The key is the field that the answer equals in most passes and differs from in most failures.
with answers as (
    select
        benchmark,
        record_id,
        task_id,
        is_pass,
        -- Without one that the verifier took from it, the final message is the answer.
        coalesce(answer, final_text) as answer
    from staging.rollouts
    inner join staging.run_benchmarks using (run_id)
    left join staging.final_texts using (record_id)
    where is_pass is not null and coalesce(answer, trim(final_text)) <> ''
),
texts as (
    select
        record_id,
        path,
        value
    from staging.entries
    where item_no = 0 and key = '' and kind not in ('OBJECT', 'ARRAY', 'BOOLEAN') and n_characters > 0
),
compared as (
    select
        answers.*,
        path,
        value,
        -- Of long texts their beginnings are compared.
        comparable(left(answer, 400)) = comparable(value) as is_equal
    from answers
    inner join texts using (record_id)
),
-- A field that the format names as the key, else the one that behaves as one.
keys as (
    select
        benchmark,
        path
    from compared
    group by benchmark, path
    having
        -- The name of the task is no key.
        2 * count(*) filter (where value = task_id) < count(*)
        and (
            is_key_name(path)
            or
            count(*) filter (where is_pass) >= 2
            and count(*) filter (where is_pass and is_equal) >= 0.8 * count(*) filter (where is_pass)
            and count(*) filter (where not is_pass and left(answer, 400) <> value)
                >= 0.6 * count(*) filter (where not is_pass)
            and count(*) filter (where not is_pass) >= 1
        )
    qualify row_number() over (
        partition by benchmark
        order by not is_key_name(path), count(*) filter (where is_pass and is_equal) desc, path
    ) = 1
)
select
    record_id,
    -- A long answer says at its end what it comes to.
    if(length(answer) > 4000, right(answer, 400), answer) as answer,
    left(coalesce(json_extract_string(verifier, '$."' || path || '"'), value), 4000) as key,
    path as key_path
from compared
semi join keys using (benchmark, path)
inner join raw.texts using (record_id)
