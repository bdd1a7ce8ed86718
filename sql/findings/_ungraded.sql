-- Attempts that were never graded: no reward, or no verdict where other attempts of the run have some.
-- `error` is what else the row says that graded ones do not: the text of an error, or how it ended;
-- `is_message` where it is a text of several words; `is_begun` unless the record shows that the model did nothing:
-- without a transcript only where the attempt took no time.
-- grain: record_id
-- looks at: run
-- kind: table
-- needs: staging.rollouts where not is_scored | main.checks | staging.entries where item_no = 0 and parent <> '' and is_verdict(value) is not null
with rollouts as (
    select
        record_id,
        run_id,
        task_id,
        benchmark,
        files.format,
        is_scored,
        not (
            coalesce(n_turns, 0) = 0
            and (
                is_observed
                or coalesce(duration_s = 0, false)
                -- Where no attempt of the run has one, an empty transcript says nothing.
                or coalesce(outline = '' and transcript is null, false)
                and max(coalesce(n_turns, 0)) over (partition by run_id) > 0
            )
        ) as is_begun
    from staging.rollouts
    inner join (select record_id, outline, transcript from staging.records) as records using (record_id)
    inner join raw.files on files.file_no = record_id // 1099511627776
    inner join staging.run_benchmarks using (run_id)
),
-- Fields that hold verdicts: checks, or an object with one that is true or false, 0 or 1.
verdict_fields as (
    select distinct
        benchmark,
        source as path
    from main.checks
    inner join staging.run_benchmarks using (run_id)
    where source not in ('row', 'log', 'reward_components')
    union
    select
        benchmark,
        parent as path
    from staging.entries
    inner join rollouts using (record_id)
    where item_no = 0 and parent <> '' and kind not in ('NULL', 'EMPTY')
    group by benchmark, parent, path
    having count(*) > 1 and bool_and(coalesce(is_verdict(value) is not null, false))
),
fields as (
    select
        rollouts.run_id,
        rollouts.benchmark,
        rollouts.task_id,
        entries.record_id,
        entries.path,
        kind in ('OBJECT', 'ARRAY') as is_filled,
        kind = 'NULL' as is_null
    from staging.entries
    inner join rollouts using (record_id)
    semi join verdict_fields using (benchmark, path)
    where item_no = 0 and key = '' and kind in ('OBJECT', 'ARRAY', 'NULL')
),
-- Most attempts at the benchmark have it, and several of the run.
common as (
    select
        benchmark,
        path
    from fields
    inner join (select benchmark, count(*) as n_all from rollouts group by all) using (benchmark)
    where is_filled
    group by benchmark, path, n_all
    having 2 * count(*) > n_all and count(*) < n_all
),
-- A run that never has it may not record it, unless it says null.
usual as (
    select
        run_id,
        path
    from fields
    semi join common using (benchmark, path)
    group by all
),
-- A null says so itself; what is absent may not be asked of the task, unless another attempt at it has it.
lacking as (
    select
        rollouts.record_id,
        -- A null says more than what is not there.
        arg_min(
            usual.path || if(fields.is_null, ' is null', ' is absent'), (fields.is_null is null, usual.path)
        ) as reason
    from rollouts
    inner join usual using (run_id)
    left join fields
        on fields.record_id = rollouts.record_id
        and fields.path = usual.path
    left join (select distinct benchmark, task_id, path from fields where is_filled) as elsewhere
        on elsewhere.benchmark = rollouts.benchmark
        and elsewhere.task_id = rollouts.task_id
        and elsewhere.path = usual.path
    where
        fields.is_null
        or fields.record_id is null and elsewhere.path is not null and not contains(usual.path, '.')
    group by rollouts.record_id
),
-- True and false beside the objects that always says what the score does is a verdict of its own.
flags as (
    select
        benchmark,
        path
    from staging.entries
    inner join staging.rollouts using (record_id)
    inner join staging.run_benchmarks using (run_id)
    where item_no = 0 and parent = '' and kind = 'BOOLEAN' and is_scored
    group by benchmark, path
    having bool_and(is_verdict(value) = is_pass) and bool_or(is_pass) and not bool_and(is_pass)
),
flagged as (
    select distinct record_id
    from staging.entries
    inner join rollouts using (record_id)
    semi join flags using (benchmark, path)
    where item_no = 0 and parent = '' and kind = 'BOOLEAN' and is_scored
),
ungraded as (
    select
        rollouts.*,
        -- Of another harness a reward may be recorded that says nothing: a 0 beside an error.
        case
            when format is not null and not is_scored and not coalesce(ends_with(lacking.reason, ' is null'), false)
                then 'attempt is not graded'
            else coalesce(lacking.reason, 'reward is not recorded')
        end as reason
    from rollouts
    left join lacking using (record_id)
    -- A word that is no number is a grade all the same.
    anti join (from staging.entries where is_word_grade(path, item_no, kind)) as words using (record_id)
    anti join flagged using (record_id)
    where
        -- In a table of one's own the score is a column: what has a value there is graded.
        lacking.reason is not null and (not is_scored or format is distinct from 'own_table')
        or not is_scored and benchmark in (select benchmark from rollouts where is_scored)
),
totals as (
    select
        benchmark,
        count(ungraded.record_id) as n_ungraded,
        count(*) - n_ungraded as n_graded
    from rollouts
    left join ungraded using (record_id, benchmark)
    group by benchmark
    having n_ungraded > 0 and n_graded > 0
),
words as (
    select
        rollouts.benchmark,
        rollouts.task_id,
        record_id,
        path,
        value,
        traceback,
        ungraded.record_id is not null as is_ungraded
    from staging.entries
    inner join rollouts using (record_id)
    semi join totals using (benchmark)
    left join ungraded using (record_id)
    where item_no = 0 and key = '' and kind = 'VARCHAR'
),
-- Texts that hardly a graded attempt has.
own_paths as (
    select
        benchmark,
        path
    from words
    inner join totals using (benchmark)
    group by benchmark, path, n_ungraded, n_graded
    having count(*) filter (where is_ungraded) * n_graded >= 3 * count(*) filter (where not is_ungraded) * n_ungraded
),
-- Of a field of few words those that hardly a graded attempt has; what every attempt at a task says is the
-- task's.
own_values as (
    select
        benchmark,
        path,
        value
    from words
    inner join totals using (benchmark)
    anti join own_paths using (benchmark, path)
    inner join (
        select
            benchmark,
            path
        from words
        group by all
        having count(distinct value) between 2 and 8
    ) as few using (benchmark, path)
    inner join (
        select distinct
            benchmark,
            path
        from words
        group by benchmark, path, task_id
        having count(distinct value) > 1
    ) as varying using (benchmark, path)
    group by benchmark, path, value, n_ungraded, n_graded
    having
        count(distinct task_id) filter (where is_ungraded) > 1
        and 20 * count(*) filter (where not is_ungraded) <= n_graded
),
errors as (
    select
        benchmark,
        record_id,
        path,
        value as shown,
        false as is_message
    from words
    semi join own_values using (benchmark, path, value)
    where is_ungraded
    union all
    -- One text as it is, several by what they have in common.
    select
        benchmark,
        record_id,
        path,
        if(
            min(value) over alike = max(value) over alike and length(value) <= 60,
            value,
            common_signature(benchmark, signature, excerpt)
        ) as shown,
        regexp_matches(trim(value), '\s') as is_message
    from (
        select
            *,
            signature_of(excerpt) as signature
        from (
            select
                *,
                error_excerpt(error_message(coalesce(traceback, value))) as excerpt
            from words
            semi join own_paths using (benchmark, path)
            where is_ungraded
        )
    )
    where signature <> ''
    window
        alike as (partition by benchmark, path, signature),
        of_path as (partition by benchmark, path)
    -- Errors repeat; where nearly every text is another, it is what the attempts made.
    qualify count(*) over of_path < 10 or 2 * count(distinct signature) over of_path <= count(*) over of_path
),
-- The field that says something of most of them; of several the one that says most.
ranked as (
    select
        benchmark,
        path,
        row_number() over (partition by benchmark order by count(*) desc, avg(length(shown)) desc, path) as place
    from errors
    group by benchmark, path
),
named as (
    select
        record_id,
        arg_min(path || ' = ' || shown, place) as error,
        arg_min(is_message, place) as is_message
    from errors
    inner join ranked using (benchmark, path)
    group by record_id
)
select
    record_id,
    reason,
    named.error,
    coalesce(named.is_message, false) as is_message,
    is_begun
from ungraded
left join named using (record_id)
