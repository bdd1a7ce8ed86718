-- Runs that are the same sample as others of their benchmark; the first by name is among them.
-- They have the same files (`copies`), or the same answers, word by word, and rewards (`same_answers`)
-- or other rewards (`other_grades`), or rows that are all among those of a larger run (`part`), as of an
-- evaluation that was begun with fewer tasks.
-- grain: run_id, kind
-- looks at: run
-- kind: table
-- needs: (from staging.run_keys offset 1)
with copied_files as (
    select
        run_id,
        list(sha256 order by sha256) as contents,
        sum(n_rows) as n_rows
    from (
        select
            run_id,
            record_id // 1099511627776 as file_no,
            count(*) as n_rows
        from staging.rollouts
        group by run_id, file_no
        -- Runs of one file share it.
        qualify count(*) over (partition by file_no) = 1
    )
    inner join raw.files using (file_no)
    where files.kind = 'rollouts'
    group by run_id
    -- Two short files may be equal by chance.
    having sum(n_rows) >= 5
    qualify count(*) over (partition by contents) > 1
),
-- Files beside them may say more of the attempts. Of verdicts alone two runs may have the same.
copied_rows as (
    select
        run_id,
        bit_xor(mixed_hash(task_id || chr(31) || rollout_index, verifier)) as content
    from staging.rollouts
    semi join copied_files using (run_id)
    inner join raw.texts using (record_id)
    group by run_id
    having 2 * count(*) filter (where n_events > 0 or length(verifier) > 100) >= count(*)
),
answers as (
    select
        run_id,
        count(*) as n_attempts,
        bit_xor(mixed_hash(
            task_id || chr(31) || rollout_index || chr(31) || coalesce(reward::varchar, ''),
            coalesce(answer, final_text)
        )) as content,
        bit_xor(mixed_hash(task_id || chr(31) || rollout_index, coalesce(answer, final_text))) as words
    from staging.rollouts
    left join staging.final_texts using (record_id)
    group by run_id
    -- A few words may be alike by chance; what some attempts answered is not known.
    having
        count(distinct coalesce(answer, final_text)) >= 10
        and count(*) = count(coalesce(answer, final_text))
),
-- Runs whose every row may be among those of a larger one: it has their tasks with their rewards.
sizes as (
    select
        benchmark,
        run_id,
        count(*) as n_rows
    from staging.rollouts
    inner join staging.run_benchmarks using (run_id)
    group by benchmark, run_id
    qualify count(*) over (partition by benchmark) <= 100
),
graded as (
    select distinct
        run_id,
        task_id,
        reward
    from staging.rollouts
    semi join sizes using (run_id)
),
candidates as (
    select
        smaller.run_id,
        larger.run_id as whole,
        larger.n_rows as n_whole
    from sizes as smaller
    inner join sizes as larger on larger.benchmark = smaller.benchmark and larger.n_rows > smaller.n_rows
    inner join graded as own on own.run_id = smaller.run_id
    left join graded as other
        on other.run_id = larger.run_id
        and other.task_id = own.task_id
        and other.reward is not distinct from own.reward
    group by all
    having count(*) = count(other.run_id)
),
-- What no other attempt has by chance: several numbers with many digits, which the task does not have, or texts of
-- some length, if there are several.
detailed as (
    select
        run_id,
        task_id,
        hash(verifier, coalesce(final_text, '')) as content,
        len(list_distinct(regexp_extract_all(
            json_merge_patch(verifier, '{"metadata": null, "verifier_metadata": null}')::varchar, '\d\.\d{6,}'
        ))) > 1 as is_exact,
        is_exact or length(final_text) >= 40 as is_telling
    from staging.rollouts
    inner join raw.texts using (record_id)
    left join staging.final_texts using (record_id)
    where run_id in (select run_id from candidates union all select whole from candidates)
),
parts as (
    select
        run_id,
        arg_max(whole, (n_whole, whole)) as whole
    from (
        select
            candidates.run_id,
            whole,
            n_whole
        from candidates
        inner join detailed as own on own.run_id = candidates.run_id
        left join (select distinct run_id, task_id, content from detailed) as other
            on other.run_id = candidates.whole
            and other.task_id = own.task_id
            and other.content = own.content
        group by all
        having
            count(*) = count(other.content)
            and (
                bool_and(own.is_exact)
                or count(distinct own.content) filter (where own.is_telling) >= 5
                and 2 * count(*) filter (where own.is_telling) >= count(*)
            )
    )
    group by run_id
),
every as (
    select
        run_id,
        'copies' as kind,
        n_rows as n_attempts,
        contents,
        content,
        null as grades
    from copied_files
    inner join copied_rows using (run_id)
    union all
    select
        run_id,
        'same_answers' as kind,
        n_attempts,
        [] as contents,
        content,
        null as grades
    from answers
    union all
    select
        run_id,
        'other_grades' as kind,
        n_attempts,
        [] as contents,
        words as content,
        content as grades
    from answers
)
select
    benchmark,
    run_id,
    kind,
    n_attempts,
    min(run_id) over alike as first_run
from every
inner join staging.run_benchmarks using (run_id)
window alike as (partition by benchmark, kind, n_attempts, contents, content)
qualify count(*) over alike > 1 and (kind <> 'other_grades' or min(grades) over alike < max(grades) over alike)
union all
select
    benchmark,
    run_id,
    'part' as kind,
    n_rows as n_attempts,
    whole as first_run
from (
    from parts
    union all
    select distinct
        whole as run_id,
        whole
    from parts
    where whole not in (select run_id from parts)
)
inner join sizes using (run_id)
