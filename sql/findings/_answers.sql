-- The answer of a rollout beside the key it is compared with, where the record shows which is which.
-- grain: record_id
-- looks at: run
-- kind: step
-- needs: staging.entries
-- The key is the field that the answer equals in most passes and differs from in most failures.
with answers as (
    select
        benchmark,
        record_id,
        task_id,
        is_pass,
        -- Without one that the verifier took from it, the final message is the answer.
        coalesce(answer, final_text) as answer,
        -- Of long texts their beginnings are compared.
        left(coalesce(answer, final_text), 400) as beginning,
        comparable(beginning) as bare_beginning
    from staging.rollouts
    inner join staging.run_benchmarks using (run_id)
    left join staging.final_texts using (record_id)
    where is_pass is not null and coalesce(answer, trimmed(final_text)) <> ''
),
texts as (
    select
        record_id,
        path,
        value,
        n_characters
    from staging.entries
    where item_no = 0 and key = '' and kind not in ('OBJECT', 'ARRAY', 'BOOLEAN') and n_characters > 0
),
compared as (
    select
        answers.*,
        path,
        value,
        n_characters,
        bare_beginning = comparable(value) as is_equal
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
            -- A text that is longer than what is compared of it is no key.
            max(n_characters) <= 400
            and count(*) filter (where is_pass) >= 2
            and count(*) filter (where is_pass and is_equal) >= 0.8 * count(*) filter (where is_pass)
            and count(*) filter (where not is_pass and beginning <> value)
                >= 0.6 * count(*) filter (where not is_pass)
            and count(*) filter (where not is_pass) >= 1
        )
    qualify row_number() over (
        partition by benchmark
        order by not is_key_name(path), count(*) filter (where is_pass and is_equal) desc, path
    ) = 1
),
-- Objects that hold the verdict, in a field that always says what the score does.
graders as (
    select
        benchmark,
        parent
    from staging.entries
    inner join staging.rollouts using (record_id)
    inner join staging.run_benchmarks using (run_id)
    where item_no = 0 and key = '' and parent <> '' and is_pass is not null and is_verdict(value) is not null
    group by benchmark, parent, path
    having bool_and(is_verdict(value) = is_pass) and count(*) > 1
),
-- What they hold beside it, lists as they are written.
graded as (
    select
        benchmark,
        record_id,
        task_id,
        is_pass,
        parent,
        path,
        coalesce(
            min(value) filter (where item_no = 0),
            '[' || string_agg(if(kind = 'VARCHAR', to_json(value)::varchar, value), ',' order by item_no)
                filter (where item_no > 0) || ']'
        ) as value
    from staging.entries
    inner join staging.rollouts using (record_id)
    inner join staging.run_benchmarks using (run_id)
    semi join graders using (benchmark, parent)
    where
        key = ''
        and is_pass is not null
        and kind not in ('OBJECT', 'BOOLEAN', 'NULL', 'EMPTY')
        and item_no <= 10
        -- A verdict is neither an answer nor a key.
        and not regexp_matches(lower(value), '^(pass|fail|skip|xfail|error)(ed|s)?$')
    group by all
    having coalesce(value, '') <> ''
),
-- Where the verifier says what it took for the answer, that is the answer.
extracting as (
    select distinct benchmark
    from staging.rollouts
    inner join staging.run_benchmarks using (run_id)
    where answer is not null
),
-- Two of them that agree in passes and not in failures; the key is the one that varies less at a task.
pairs as (
    select
        benchmark,
        answers.path as answer_path,
        keys.path as key_path
    from graded as answers
    inner join graded as keys using (benchmark, record_id, task_id, is_pass, parent)
    where answers.path <> keys.path and benchmark not in (select benchmark from extracting)
    group by benchmark, answers.path, keys.path
    having
        count(*) filter (where is_pass) > 1
        and count(*) filter (where not is_pass) > 0
        and count(*) filter (where is_pass and comparable(answers.value) = comparable(keys.value))
            >= 0.8 * count(*) filter (where is_pass)
        and count(*) filter (where not is_pass and answers.value <> keys.value)
            >= 0.6 * count(*) filter (where not is_pass)
        and count(distinct (task_id, keys.value)) < count(distinct (task_id, answers.value))
    qualify row_number() over (partition by benchmark order by count(*) desc, answers.path, keys.path) = 1
)
select
    record_id,
    -- A long answer says at its end what it comes to.
    if(length(answer) > 4000, right(answer, 400), answer) as answer,
    left(stated_key(coalesce(json_extract_string(verifier, '$."' || path || '"'), value)), 4000) as key,
    path as key_path
from compared
semi join keys using (benchmark, path)
inner join raw.texts using (record_id)
where benchmark not in (select benchmark from pairs)
union all
select
    record_id,
    answers.value as answer,
    keys.value as key,
    key_path
from pairs
inner join graded as answers on answers.benchmark = pairs.benchmark and answers.path = pairs.answer_path
inner join graded as keys using (record_id)
where keys.path = key_path
