-- The tools that most rollouts of a run call, thirty at most: rarer ones separate nothing.
-- grain: run_id, tool
with

counted as (

    select
        run_id,
        tool,
        count(*) as n_rollouts

    from staging.called_tools

    group by all

),

ranked as (

    select
        *,
        row_number() over (partition by run_id order by n_rollouts desc, tool) as rank

    from counted

),

final as (

    select
        run_id,
        tool,
        n_rollouts

    from ranked

    where rank <= 30

)

select * from final
