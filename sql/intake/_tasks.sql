-- One question of a benchmark, over all runs that were asked it, and a row that holds it.
-- grain: benchmark, task_id
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
    coalesce(slices.slices, map([], [])) as slices
from ranked
left join slices using (benchmark, task_id)
where ranked.rank = 1
