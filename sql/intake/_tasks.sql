-- One question of a benchmark, over all runs that were asked it, and a row that holds it.
-- `own_start`: the characters with which all of the benchmark begin; null where all are the same.
-- `question`: the text of a field that says at most tasks what is asked, in words of the prompt.
-- `shared_parts`: hashes of sentences that most of them have; fifty tasks show which.
-- grain: benchmark, task_id
-- looks at: run
-- kind: table
with counted as (
    select
        benchmark,
        task_id,
        prompt_sha,
        min(prompt_record) as prompt_record,
        sum(n_rows) as n_rows
    from staging.task_prompts as prompts
    group by benchmark, task_id, prompt_sha
),
-- Where runs disagree, the question of most rows is the question of the task.
ranked as (
    select
        *,
        row_number() over (
            partition by benchmark, task_id order by n_rows desc, prompt_sha
        ) as rank,
        count(*) over (partition by benchmark, task_id) as n_prompts
    from counted
),
starts as (
    select
        benchmark,
        case
            when count(*) = 1 then 0
            when min(prompt) < max(prompt)
                then length(regexp_replace(left(min(prompt), n_alike(min(prompt), max(prompt))), '\S*$', ''))
        end as own_start
    from ranked
    inner join raw.texts on texts.record_id = ranked.prompt_record
    where ranked.rank = 1
    group by benchmark
),
sampled as (
    select
        benchmark,
        task_id,
        prompt_record,
        count(*) over (partition by benchmark) as n_sampled
    from ranked
    where rank = 1
    qualify row_number() over (partition by benchmark order by md5(task_id), task_id) <= 50
),
parts as (
    select
        benchmark,
        hash(part) as part,
        any_value(n_sampled) as n_sampled,
        count(*) as n_tasks
    from (
        select distinct
            benchmark,
            task_id,
            n_sampled,
            unnest(list_transform(question_parts(prompt), lambda part: trim(part, ' …' || chr(10)))) as part
        from sampled
        inner join raw.texts on texts.record_id = sampled.prompt_record
    )
    group by benchmark, part
),
shared as (
    select
        benchmark,
        list(part order by part) as shared_parts
    from parts
    where n_tasks > 1 and 2 * n_tasks > least(n_sampled, 50)
    group by benchmark
),
-- Short texts of the rows that are pieces of their prompts, some of them questions, another at each task.
questions as (
    select
        ranked.benchmark,
        ranked.task_id,
        fields.path,
        fields.value
    from ranked
    inner join raw.texts on texts.record_id = ranked.prompt_record
    inner join staging.entries as fields on fields.record_id = ranked.prompt_record
    where
        ranked.rank = 1
        and fields.kind = 'VARCHAR'
        and fields.item_no = 0
        and fields.key = ''
        and fields.n_characters between 20 and 400
        and contains(texts.prompt, fields.value)
),
question_fields as (
    select
        benchmark,
        path
    from questions
    inner join (select benchmark, count(*) as n_all from ranked where rank = 1 group by all) using (benchmark)
    group by benchmark, path, n_all
    having
        2 * count(*) > n_all
        and n_all > 1
        and count(distinct value) = count(*)
        and count(*) filter (where ends_with(rtrim(value), '?')) > 0
    qualify row_number() over (partition by benchmark order by avg(length(value)) desc, path) = 1
),
slices as (
    select
        benchmark,
        task_id,
        map_from_entries(list(struct_pack(key := name, value := value) order by name)) as slices
    from staging.task_slices
    group by all
)
select
    ranked.benchmark,
    ranked.task_id,
    ranked.prompt_record,
    ranked.prompt_sha,
    ranked.n_prompts,
    starts.own_start,
    questions.value as question,
    coalesce(shared.shared_parts, []) as shared_parts,
    coalesce(slices.slices, map([], [])) as slices
from ranked
inner join starts using (benchmark)
left join shared using (benchmark)
left join (from questions semi join question_fields using (benchmark, path)) as questions
    using (benchmark, task_id)
left join slices using (benchmark, task_id)
where ranked.rank = 1
