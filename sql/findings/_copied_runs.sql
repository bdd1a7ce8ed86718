-- Runs that are the same sample as others of their benchmark; the first by name is among them.
-- They have the same files (`copies`), or the same answers, word by word, and rewards (`same_answers`)
-- or other rewards (`other_grades`).
-- grain: run_id, kind
-- looks at: run
-- kind: table
-- needs: (from staging.run_keys offset 1)
with copied_files as (
    select
        run_id,
        list(sha256 order by sha256) as contents,
        sum(n_rows) as n_rows
    from main.artifacts
    -- Two short files may be equal by chance.
    where kind = 'rollouts' and n_rows > 0
    group by run_id
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
