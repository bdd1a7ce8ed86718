-- How much of the spread of pass rates is between tasks, and how much a task's own sampling.
-- grain: run_id
with

-- One repeat shows nothing of its own sampling.
repeated as (

    select *

    from staging.task_values

    where slice_key = '' and metric = 'pass_at' and k = 1 and n_scored > 1

),

levels as (

    select
        run_id,
        sum(n_tasks) as n_tasks,
        sorted_sum(n_tasks * value) / sum(n_tasks) as value,
        sorted_sum(n_tasks * sampling_variance) / sum(n_tasks) as sampling_variance,
        sorted_sum(n_tasks * n_scored * sampling_variance) / sum(n_tasks) as within_variance

    from repeated

    group by all

),

spread as (

    select
        repeated.run_id,
        sorted_sum(repeated.n_tasks * square(repeated.value - levels.value))
            / nullif(min(levels.n_tasks) - 1, 0) as variance

    from repeated

    inner join levels using (run_id)

    group by repeated.run_id

),

final as (

    select
        levels.run_id,
        levels.within_variance,
        case
            when spread.variance is not null
                then greatest(spread.variance - levels.sampling_variance, 0)
        end as between_variance,
        -- What twice the tasks, or twice the repeats, would leave of the error for new tasks; where
        -- tasks are grouped it is the groups that count, and neither says it. All of the spread may
        -- be sampling, never more.
        case
            when settings.group_path is null then sqrt(spread.variance / (2 * levels.n_tasks))
        end as se_with_twice_the_tasks,
        case
            when settings.group_path is null and spread.variance is not null then sqrt(
                greatest(spread.variance - levels.sampling_variance / 2, spread.variance / 2)
                / levels.n_tasks
            )
        end as se_with_twice_the_repeats

    from levels

    inner join spread using (run_id)

    cross join raw.settings as settings

)

select * from final
