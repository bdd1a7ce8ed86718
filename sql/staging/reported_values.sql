-- Our own value of every reported figure; null where we have none.
-- grain: run_id, agent, task_id, metric, source_file
-- kind: table
with

figures as (

    select * from staging.reported_figures

),

final as (

    select
        figures.run_id,
        figures.agent,
        figures.task_id,
        figures.metric,
        figures.source_file,
        figures.reported,
        figures.shard,
        figures.kind,
        figures.statistic,
        coalesce(statistics.n_numbers, 0) as n_numbers,
        coalesce(slices.n_readings, 0) as n_readings,
        coalesce(passes.n_tasks, 0) as n_tasks,
        coalesce(passes.is_graded, false) as is_graded,
        coalesce(passes.is_cut, false) as is_cut,
        passes.field is not null as is_scored,
        coalesce(counts.n_rollouts, 0) as n_rollouts,
        case
            when figures.kind = 'statistic' then case figures.statistic
                when 'mean' then coalesce(statistics.mean, slices.mean)
                when 'max' then statistics.max
                when 'min' then statistics.min
                when 'median' then statistics.median
                -- Of one value there is none; the sidecars that do not write null define it as 0.
                when 'std' then coalesce(
                    statistics.std,
                    case when statistics.n_numbers = 1 and figures.reported = 0 then 0.0 end
                )
            end
            when figures.kind = 'count' then case figures.metric
                when 'num_rollouts' then counts.n_rollouts
                when 'expected_num_rollouts' then counts.n_expected
                when 'missing_num_rollouts' then counts.n_missing
                when 'reward_profile_completion_pct' then counts.completion_percent
            end
            -- A pass figure of one task is none of ours: it stands for the whole run.
            when figures.task_id is null then passes.percent
        end as ours

    from figures

    left join staging.reported_counts as counts
        on counts.run_id = figures.run_id
        and counts.shard = figures.shard
        and counts.task_id is not distinct from figures.task_id

    left join staging.reported_statistics as statistics
        on statistics.run_id = figures.run_id
        and statistics.shard = figures.shard
        and statistics.task_id is not distinct from figures.task_id
        and statistics.field = figures.field
        and figures.kind = 'statistic'

    left join staging.reported_slices as slices
        on slices.run_id = figures.run_id
        and slices.shard = figures.shard
        and slices.field = figures.field
        and figures.kind = 'statistic'
        and figures.task_id is null

    left join staging.reported_passes as passes
        on passes.run_id = figures.run_id
        and passes.shard = figures.shard
        and passes.kind = figures.kind
        and passes.field = figures.field
        and passes.k = figures.k

)

select * from final
