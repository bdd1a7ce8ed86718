-- The key of every row by the ids it records: run, task and repeat; of rows that share one, which counts.
-- grain: record_id
-- looks at: run
-- kind: table
with
-- If the rows of a name belong to several runs, their agent decides; else all belong to one run.
several as (
    select distinct run_name
    from staging.run_keys
    where agent_key <> ''
),
records as (
    select
        run_keys.run_id,
        records.*
    from staging.records
    left join several using (run_name)
    inner join staging.run_keys
        on run_keys.run_name = records.run_name
        and run_keys.agent_key
            = case when several.run_name is null then '' else coalesce(records.part, '') end
),
runs as (
    select
        run_id,
        bool_or(task_index is null) as has_nameless,
        case when min(stage_index) < max(stage_index) then min(stage_index) end as first_stage
    from records
    group by all
),
-- A row without an index still belongs to the indexed task that asks the same question.
indexed as (
    select
        run_id,
        prompt_sha,
        min(task_index) as task_index
    from records
    semi join (from runs where has_nameless) as nameless using (run_id)
    where task_index is not null and has_prompt
    group by all
    having count(distinct task_index) = 1
),
offered as (
    select
        run_id,
        unnest(map_entries(json_fields(ids))) as entry
    from records
    where task_index is null
),
-- The field that names the tasks of a run whose rows have no index: the first that always does.
id_fields as (
    select
        offered.run_id,
        arg_min(offered.name, id_fields.rank) as name
    from (
        select
            run_id,
            entry.key as name,
            count(json_as_text(entry.value)) as n_rows,
            count(json_as_number(entry.value)) as n_numbers
        from offered
        group by all
    ) as offered
    inner join raw.id_fields using (name)
    inner join (
        select
            run_id,
            count(*) as n_rows
        from records
        where task_index is null
        group by all
    ) as nameless using (run_id, n_rows)
    where offered.n_numbers in (0, offered.n_rows)
    group by all
),
-- Every row with its task: by index, else by explicit id, else by content. A rollout that shows no
-- question either is a task of its own, by its line: nothing says that two of them ask the same.
named as materialized (
    select
        records.run_id,
        records.record_id,
        records.role = 'rollout'
        and records.request_hash is null
        and not records.has_prompt as is_nameless,
        bounded_name(coalesce(
            records.task_index,
            indexed.task_index,
            json_field(records.ids, id_fields.name),
            case when is_nameless then 'line-' || records.record_id % 1099511627776 end,
            records.task_hash
        -- What names no stage, as inputs do, is where a task begins.
        ) || case
            when runs.first_stage is null then ''
            else '-stage' || coalesce(records.stage_index, runs.first_stage)
        end) as task_id,
        case
            when coalesce(records.task_index, indexed.task_index) is not null then 'index'
            else coalesce(id_fields.name, 'content')
        end as task_id_source,
        records.role,
        records.seed,
        records.chunk,
        records.rollout_index,
        records.attempt_index,
        case when records.rollout_index is null then records.content_hash end as content_hash,
        case when records.chunk is not null then records.prompt_sha end as prompt_sha,
        records.has_prompt
    from records
    inner join runs using (run_id)
    left join indexed
        on records.task_index is null
        and indexed.run_id = records.run_id
        and indexed.prompt_sha = records.prompt_sha
    left join id_fields
        on records.task_index is null
        and id_fields.run_id = records.run_id
),
-- Chunks number their tasks from 0 unless stamped. The same number with another question, or with
-- none to compare, is another task.
rekeyed as (
    select distinct run_id
    from (
        select
            run_id,
            task_id,
            chunk,
            min(prompt_sha) as prompt_sha,
            bool_or(has_prompt) as has_prompt
        from named
        where chunk is not null
        group by all
    ) as chunked
    group by run_id, task_id
    having count(*) > 1 and (count(distinct prompt_sha) > 1 or not bool_or(has_prompt))
),
tasks as (
    select
        named.* exclude (task_id, prompt_sha, has_prompt, is_nameless),
        rekeyed.run_id is not null as is_rekeyed,
        bounded_name(
            case when is_rekeyed and chunk is not null then 'chunk' || chunk || '-' else '' end
            || named.task_id
        ) as task_id
    from named
    left join rekeyed using (run_id)
),
-- Chunks are repeats only if a task is in several chunks of one seed; else seeds are.
repeating as (
    select distinct run_id
    from tasks
    where chunk is not null and not is_rekeyed
    group by run_id, seed, task_id, role, rollout_index
    having count(distinct chunk) > 1
),
placed as (
    select
        tasks.*,
        coalesce(seed, -1) as repeat_seed,
        case when repeating.run_id is null then -1 else coalesce(chunk, -1) end as repeat_chunk
    from tasks
    left join repeating using (run_id)
),
colliding as (
    select distinct run_id
    from placed
    where seed is not null or chunk is not null
    group by run_id, task_id, role, rollout_index
    having count(distinct (repeat_seed, repeat_chunk)) > 1
),
-- How far each shard's repeat numbers must move so that the shards of a run do not collide.
offsets as (
    select
        run_id,
        repeat_seed,
        repeat_chunk,
        cast(sum(1 + coalesce(max(rollout_index), -1)) over (
            partition by run_id
            order by repeat_seed, repeat_chunk
            rows between unbounded preceding and 1 preceding
        ) as bigint) as index_offset
    from placed
    semi join colliding using (run_id)
    where seed is not null or chunk is not null
    group by run_id, repeat_seed, repeat_chunk
),
moved as (
    select
        placed.* exclude (seed, chunk, repeat_seed, repeat_chunk)
            replace (rollout_index + coalesce(offsets.index_offset, 0) as rollout_index)
    from placed
    left join offsets using (run_id, repeat_seed, repeat_chunk)
),
last_given as (
    select
        run_id,
        task_id,
        role,
        max(rollout_index) as last_index
    from moved
    semi join (select distinct run_id from moved where rollout_index is null) as ranked using (run_id)
    group by all
),
-- Rows without a repeat number are ranked by what they say, so that their order does not matter.
keyed as materialized (
    from moved
    where rollout_index is not null
    union all
    select moved.* replace (
        coalesce(last_given.last_index, -1) + row_number() over (
            partition by run_id, task_id, role order by content_hash, record_id
        ) as rollout_index
    )
    from moved
    left join last_given using (run_id, task_id, role)
    where rollout_index is null
),
shared as (
    select
        role,
        run_id,
        task_id,
        rollout_index
    from keyed
    group by all
    having count(*) > 1
),
-- Of rows that share a key one counts. Ids ascend by file, in path order, and by line.
contested as (
    select
        record_id,
        row_number() over same_key as rank,
        first_value(record_id) over same_key as winner_id
    from keyed
    semi join shared using (role, run_id, task_id, rollout_index)
    window same_key as (
        partition by role, run_id, task_id, rollout_index
        order by attempt_index desc nulls last, record_id
        rows between unbounded preceding and unbounded following
    )
)
select
    keyed.* exclude (content_hash),
    coalesce(contested.rank, 1) as rank,
    files.path || ':' || winner_id % 1099511627776 as winner
from keyed
left join contested using (record_id)
left join raw.files on files.file_no = contested.winner_id // 1099511627776
