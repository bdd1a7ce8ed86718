-- Prompts that others equal but for white space or a key that is not recorded, and the one for all of them.
-- grain: prompt_sha
-- looks at: across
-- kind: step
-- needs: (from staging.run_keys offset 1)
with prompts as (
    select
        prompt_sha,
        truth_hash,
        min(record_id) as record_id
    from staging.records
    where
        has_prompt
        and role in ('rollout', 'input')
        -- Repeats of one run ask one question, and nothing else is compared with it.
        and (select count(*) > 1 from staging.run_keys)
    group by all
),
written as (
    select
        prompts.prompt_sha,
        prompts.truth_hash,
        texts.prompt,
        question_words(texts.prompt) as words
    from prompts
    inner join raw.texts using (record_id)
    where
        texts.prompt <> ''
        -- Of a picture the words say nothing; within a sentence `[file]` is a word.
        and not regexp_matches(
            texts.prompt,
            '\[((input_)?(image|audio|video)[a-z_]*|input_file|part)\]|^\[file\]|\[file\]$'
        )
),
-- Prompts of the very same words differ in something else.
same_words as (
    select
        truth_hash,
        words,
        min(prompt_sha) as question
    from written
    group by all
    having count(*) > 1 and count(distinct prompt) = count(*)
),
alike as (
    select
        written.prompt_sha,
        written.truth_hash,
        written.words,
        coalesce(same_words.question, written.prompt_sha) as question
    from written
    left join same_words
        on same_words.words = written.words
        and same_words.truth_hash is not distinct from written.truth_hash
),
-- An attempt that was never graded may have no key: it asks what the one question of its words asks.
keyed as (
    select
        words,
        min(question) filter (where truth_hash is not null) as question
    from alike
    group by words
    having
        count(distinct question) = 2
        and count(distinct question) filter (where truth_hash is not null) = 1
)
select
    alike.prompt_sha,
    coalesce(keyed.question, alike.question) as question
from alike
left join keyed using (words)
where coalesce(keyed.question, alike.question) <> alike.prompt_sha
