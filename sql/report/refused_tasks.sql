-- Tasks that two runs share by id but not by question: refused, never compared.
-- grain: base, candidate, task_id
with refused as (
    select
        base,
        candidate,
        task_id,
        count(*) over (partition by base, candidate) as n_refused,
        row_number() over (
            partition by base, candidate order by try_cast(task_id as bigint), task_id
        ) as rank
    from main.comparison_tasks
    where pairing = 'contradicted'
)
select * from refused where rank <= 20 order by base, candidate, rank
