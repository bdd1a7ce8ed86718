-- What sorts tasks into a few groups: fields that are constant in a task, what is in lists of them, pieces of ids, whether a change is expected.
-- grain: benchmark, task_id, name
-- looks at: run
-- kind: table
-- needs: (from (select distinct task_id from staging.keys) offset 1) | raw.slice_fields
with keys as (
    select
        run_benchmarks.benchmark,
        keys.*
    from staging.keys
    inner join staging.run_benchmarks using (run_id)
    where keys.rank = 1 and keys.role in ('rollout', 'input')
),
-- A few rows of a task show whether a field belongs to the task or to the attempt, those that ended
-- differently best; an input row counts only for a task that has no rollout.
sampled as (
    select
        benchmark,
        run_id,
        task_id,
        record_id,
        reward
    from (
        select
            keys.*,
            records.reward,
            row_number() over (
                partition by benchmark, task_id, keys.role, records.reward
                order by keys.rollout_index, keys.run_id
            ) as place
        from keys
        inner join staging.records using (record_id)
        where not (select has_slices from raw.settings)
    )
    qualify row_number() over (
        partition by benchmark, task_id order by role desc, place, reward, rollout_index, run_id
    ) <= 4 and role = max(role) over (partition by benchmark, task_id)
),
rows_read as (
    select
        benchmark,
        run_id,
        task_id,
        reward,
        verifier,
        count(*) over (partition by benchmark, run_id, task_id) as n_rows,
        count(*) over (partition by benchmark, task_id) as n_task_rows
    from sampled
    inner join raw.texts using (record_id)
),
-- The top level of a row, and its metadata.
entries as (
    select
        benchmark,
        run_id,
        task_id,
        reward,
        n_rows,
        n_task_rows,
        '' as parent,
        {'key': key, 'value': value} as entry
    from (
        select
            benchmark,
            run_id,
            task_id,
            reward,
            n_rows,
            n_task_rows,
            unnest(json_keys(verifier)) as key,
            unnest(json_extract(verifier, '$.*')) as value
        from rows_read
    )
    union all
    select
        benchmark,
        run_id,
        task_id,
        reward,
        n_rows,
        n_task_rows,
        parent,
        unnest(map_entries(json_fields(fields))) as entry
    from (
        select
            benchmark,
            run_id,
            task_id,
            reward,
            n_rows,
            n_task_rows,
            unnest(['verifier_metadata.', 'metadata.']) as parent,
            unnest(json_extract(verifier, ['$.verifier_metadata', '$.metadata'])) as fields
        from rows_read
    )
),
scalars as materialized (
    select
        benchmark,
        run_id,
        task_id,
        reward,
        n_rows,
        n_task_rows,
        parent || entry.key as name,
        json_as_text(entry.value) as value
    from entries
    where json_as_text(entry.value) is not null
),
-- Lists of words, in any order.
lists as materialized (
    select
        benchmark,
        run_id,
        task_id,
        reward,
        n_rows,
        n_task_rows,
        parent || entry.key as name,
        list_sort(list_distinct(from_json(entry.value, '["VARCHAR"]')))::varchar as value,
        from_json(entry.value, '["VARCHAR"]') as words
    from entries
    where
        json_type(entry.value) = 'ARRAY'
        and length(entry.value) <= 10000
        and len(list_filter(json_type(entry.value, '$[*]'), lambda kind: kind <> 'VARCHAR')) = 0
),
described as (
    select
        benchmark,
        task_id,
        reward,
        name,
        value
    from scalars
    union all
    select
        benchmark,
        task_id,
        reward,
        name,
        value
    from lists
),
-- Fields that show by themselves whether they are of the outcome: they are in attempts at some tasks that ended
-- differently.
measured as (
    select
        benchmark,
        name
    from (
        select
            benchmark,
            task_id,
            name
        from described
        group by all
        having min(reward) < max(reward)
    )
    group by all
    having count(*) >= 3
),
-- Ids, answers, outputs and verdicts are never slices, however few values they take. Where nothing
-- is measured their names say so, and a true or false of the row itself is a verdict. Numbers are
-- sizes: only a name makes a group of them.
names as (
    select
        benchmark,
        name,
        measured.name is not null
            and not bool_and(regexp_matches(value, '^-?\d+$'))
            and not regexp_matches(lower(name), '(^|[._])(answer|expected_answer|ground_truth|solution|target)$|(^|[.])label$')
            as is_measured
    from described
    left join measured using (benchmark, name)
    where length(name) <= 200
    group by benchmark, name, measured.name
    having
        is_measured
        or not regexp_matches(
            lower(name),
            '(^|[._])(id|ids|uuid|uid|idx|index|hash|sha|seed|url|path)$'
            || '|answer|response|output|extract|predict|parsed|generat|generation|model|judg|verdict|grade|grading'
            || '|score|reward|accuracy|pass|correct|match|error|fail|solved|resolved|valid|status'
            || '|time|duration|latency|token|cost|turns?|exit|finish|stop|terminated|truncated'
            -- A key sorts tasks by what is right, not by what they are; `sub_label` says that.
            || '|(^|[._])(target|gold|key|solution|ground_truth|reference)$|(^|[.])label$'
            || '|(^|[._])n_|num_|count'
        )
        -- What kind of answer is asked for is the task's.
        or regexp_matches(lower(name), '(^|[._])(input|output|answer)_(type|kind|format)$')
),
per_task as (
    select
        benchmark,
        task_id,
        name,
        min(value) as value,
        -- What some attempts leave out differs, too; a yes or no that other runs leave out may be of the attempt.
        count(distinct value)
        + if(bool_or(value in ('true', 'false')), max(n_task_rows) - count(*), max(n_rows - n_values)) as n_values
    from (
        select
            *,
            count(*) over (partition by benchmark, run_id, task_id, name) as n_values
        from scalars
    )
    inner join names using (benchmark, name)
    where
        length(value) between 1 and 60
        and (is_measured or value not in ('true', 'false') or contains(name, '.'))
        and not regexp_matches(value, '^-?\d+\.\d+$')
    group by all
),
sizes as (
    select
        benchmark,
        count(distinct task_id) as n_tasks
    from described
    group by all
),
groups as (
    select
        benchmark,
        name
    from per_task
    inner join sizes using (benchmark)
    group by benchmark, name, n_tasks
    having
        max(n_values) = 1
        and count(distinct value) > 1
        -- Many groups are groups where they have several tasks each.
        and (count(distinct value) <= 20 or count(distinct value) <= 200 and 5 * count(distinct value) <= count(*))
        and 2 * count(*) >= n_tasks
        -- One task per group is no grouping, unless the field is named as one.
        and (
            2 * count(distinct value) <= n_tasks
            or regexp_matches(
                lower(name),
                '(^|[._])(type|kind|category|level|difficulty|domain|subject|topic|language|format|split)$'
                || '|_(type|kind|category|level)$'
            )
        )
),
-- Lists that hardly a task has in two ways, as where a dataset was edited; in a row itself they may be of the
-- attempt, unless that was measured.
tagged as (
    select
        benchmark,
        name,
        task_id,
        count(*) as n_lists,
        list_distinct(flatten(list(words))) as words,
        count(distinct value) > 1 or max(n_task_rows) > n_lists as is_varying
    from lists
    inner join names using (benchmark, name)
    where is_measured or contains(name, '.')
    group by all
),
-- What is in the lists of five tasks or more, and not in those of as many; no sentences, and a number may be the
-- item's own.
members as (
    select
        benchmark,
        name,
        word
    from (
        select
            benchmark,
            name,
            word,
            count(*) = n_lists as is_in_all
        from (
            select
                benchmark,
                name,
                task_id,
                unnest(list_distinct(words)) as word
            from lists
        )
        inner join tagged using (benchmark, name, task_id)
        where length(word) <= 40 and regexp_matches(word, '\pL') and not regexp_matches(word, '[.!?]\s*$')
        group by benchmark, name, word, task_id, n_lists
    )
    inner join (
        select
            benchmark,
            name,
            count(*) as n_listed
        from tagged
        inner join sizes using (benchmark)
        group by benchmark, name, n_tasks
        having 10 * count(*) filter (is_varying) <= n_listed and 2 * n_listed >= n_tasks
    ) as listed using (benchmark, name)
    group by benchmark, name, word, n_listed
    having bool_and(is_in_all) and count(*) between 5 and n_listed - 5
    qualify count(*) over (partition by benchmark, name) <= 60
),
sorting_fields as (
    select
        benchmark,
        task_id,
        name,
        value
    from per_task
    semi join groups using (benchmark, name)
    union all
    select
        benchmark,
        task_id,
        name || ' has ' || word as name,
        if(list_contains(words, word), 'yes', 'no') as value
    from tagged
    inner join members using (benchmark, name)
),
-- Of fields that sort the tasks in one and the same way one: the name that the ids have for it, else words
-- rather than codes.
chosen as (
    select
        benchmark,
        name
    from (
        select
            benchmark,
            name,
            -- Each task by the first of its group.
            md5(string_agg(first_task || ' ' || task_id, chr(31) order by task_id)) as sorting,
            count(*) filter (where contains(task_id, value)) as n_in_ids,
            avg(length(regexp_replace(value, '[^0-9]', '', 'g'))) as n_digits
        from (
            select
                *,
                min(task_id) over (partition by benchmark, name, value) as first_task
            from sorting_fields
        )
        group by benchmark, name
    )
    qualify row_number() over (partition by benchmark, sorting order by n_in_ids desc, n_digits, length(name), name) = 1
),
-- Text between separators of a task's id, by the coarsest separator whose pieces sort tasks. What
-- chunks put before an id is none of it.
pieces as (
    select
        benchmark,
        task_id,
        place,
        unnest(parts) as value,
        generate_subscripts(parts, 1) as part_no
    from (
        select
            benchmark,
            task_id,
            place,
            list_filter(split, lambda part: trim(part) <> '') as parts
        from (
            -- Each pattern is a constant, which is compiled once.
            select
                benchmark,
                task_id,
                unnest([
                    {place: 1, split: str_split_regex(id, '[\[\](){}<>]+')},
                    {place: 2, split: str_split_regex(id, '[/\\|]+')},
                    {place: 3, split: str_split_regex(id, ':+')},
                    {place: 4, split: str_split_regex(id, '__+')},
                    {place: 5, split: str_split_regex(id, '\s+')},
                    {place: 6, split: str_split_regex(id, '[.]+')},
                    {place: 7, split: str_split_regex(id, '-+')},
                    {place: 8, split: str_split_regex(id, '_+')}
                ], recursive := true)
            from (
                select distinct
                    benchmark,
                    task_id,
                    regexp_replace(task_id, '^chunk\d+-', '') as id
                from keys
                where not (select has_slices from raw.settings)
            )
        )
    )
    where len(parts) > 1
),
id_parts as (
    select
        benchmark,
        place,
        part_no,
        value,
        count(*) as n_tasks
    from pieces
    -- A number may be the item's own.
    where length(value) <= 60 and regexp_matches(value, '\pL')
    group by benchmark, place, part_no, value
    having count(*) >= 5
    qualify count(*) over (partition by benchmark, place, part_no) between 2 and 60
),
-- The slices a profile asks for.
profiled as (
    select
        benchmark,
        task_id,
        bounded_name(slice_fields.name) as name,
        bounded_name(json_as_text(
            row_field(verifier, records.reward_components, slice_fields.path)
        )) as value
    from raw.slice_fields
    cross join keys
    inner join staging.records using (record_id)
    inner join raw.texts using (record_id)
)
select
    benchmark,
    task_id,
    name,
    value
from sorting_fields
semi join chosen using (benchmark, name)
union all
-- Whether any call that a task's record expects changes something, where it is known which tools do.
select
    benchmark,
    task_id,
    'expects a change' as name,
    if(bool_or(expected_no is not null and is_write), 'yes', 'no') as value
from main.expected_calls
inner join staging.run_benchmarks using (run_id)
where is_write is not null and not (select has_slices from raw.settings)
group by all
union all
select
    benchmark,
    task_id,
    'task id part ' || part_no as name,
    value
from pieces
inner join (from id_parts qualify place = min(place) over (partition by benchmark))
    using (benchmark, place, part_no, value)
union all
-- What a task's rows say differently belongs to the attempt, not to the task.
select
    benchmark,
    task_id,
    name,
    case when count(distinct value) = 1 then min(value) else '(varies)' end as value
from profiled
where value is not null
group by all
