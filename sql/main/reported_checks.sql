-- Every figure a run reported of itself beside our own: equal, different, or why it cannot be said.
-- grain: run_id, agent, task_id, metric, source_file
-- kind: table
with

figures as (

    select
        *,
        case
            when ours is not null and reported is not null then is_equal
            -- No values, or the deviation of one: both say that there is no number.
            else kind = 'statistic' and ours is null and reported is null
        end as is_same

    from staging.reported_reasons

),

final as (

    select
        run_id,
        agent,
        task_id,
        metric,
        reported,
        ours,
        case
            when is_same then 'equal'
            when coalesce(obstacle, excuse) is not null then 'not comparable'
            else 'differs'
        end as status,
        case when not is_same then coalesce(obstacle, excuse, 'no reason found') end as reason,
        source_file

    from figures

)

select * from final
