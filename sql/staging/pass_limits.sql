-- How much of the token limit a task's passes use at most, over all runs.
-- grain: benchmark, task_id
with

final as (

    select
        benchmark,
        task_id,
        max(output_limit_rate) as most_used

    from main.rollout_features

    where is_pass

    group by all

)

select * from final
