-- Rows of sharded runs with task ids that tell the chunks' tasks apart where their numbers collide.
-- grain: record_id
with chunked as (
    select
        records.run_id,
        task_keys.task_id,
        records.chunk,
        min(records.prompt_sha) as prompt_sha,
        max(records.prompt) as prompt
    from staging.run_records as records
    inner join staging.task_keys using (record_id)
    where records.chunk is not null
    group by all
),
-- Chunks number their tasks from 0 unless stamped. The same number with another question, or with
-- none to compare, is another task.
colliding as (
    select distinct run_id
    from chunked
    group by run_id, task_id
    having count(*) > 1 and (count(distinct prompt_sha) > 1 or max(prompt) = '')
)
select
    records.record_id,
    records.run_id,
    case
        when colliding.run_id is not null and records.chunk is not null
            then 'chunk' || records.chunk || '-' || task_keys.task_id
        else task_keys.task_id
    end as task_id,
    colliding.run_id is not null as is_rekeyed
from staging.run_records as records
inner join staging.task_keys using (record_id)
left join colliding
    on colliding.run_id = records.run_id
