-- What a task's passes take at most, over all runs, and how many of them act.
-- grain: benchmark, task_id
with

final as (

    select
        benchmark,
        task_id,
        count(*) as n_passes,
        count(*) filter (where has_action) as n_acting,
        -- Of a pass that does not say, it could be anything.
        case when count(output_tokens) = count(*) then max(output_tokens) end as most_tokens,
        case when count(duration_s) = count(*) then max(duration_s) end as longest_s

    from main.rollout_features

    where is_pass

    group by all

)

select * from final
