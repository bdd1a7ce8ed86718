-- Tasks whose failures may not be the model's, the surest signs first.
-- grain: run_id, task_id, rule
with ranked as (
    select
        *,
        count(*) over (partition by run_id) as n_suspicions,
        row_number() over (
            partition by run_id
            order by
                case confidence when 'strong' then 1 when 'moderate' then 2 else 3 end,
                cause,
                rule,
                try_cast(task_id as bigint),
                task_id
        ) as rank
    from main.suspicions
)
select * from ranked where rank <= 10 order by run_id, rank
