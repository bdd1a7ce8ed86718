-- The other run of a benchmark that does best on the tasks both scored, and by how much.
-- grain: run_id
-- kind: table
with

parts as (

    select * from staging.shared_rates

),

pairs as (

    select
        parts.run_id,
        others.run_id as reference_run_id,
        sum(parts.n_tasks) as n_tasks,
        sorted_sum(parts.total_rate) as total_rate,
        sorted_sum(others.total_rate) as total_reference_rate

    from parts

    inner join parts as others using (benchmark, part)

    where parts.run_id <> others.run_id

    group by parts.run_id, others.run_id

),

ranked as (

    select
        *,
        row_number() over (
            partition by run_id
            order by
                total_reference_rate / nullif(n_tasks, 0) desc,
                n_tasks desc,
                reference_run_id
        ) as rank

    from pairs

),

final as (

    select
        run_id,
        reference_run_id,
        cast(n_tasks as bigint) as n_tasks,
        total_reference_rate / nullif(n_tasks, 0) as pass_at_1,
        difference(total_reference_rate, total_rate) / nullif(n_tasks, 0) as gain

    from ranked

    where rank = 1

)

select * from final
