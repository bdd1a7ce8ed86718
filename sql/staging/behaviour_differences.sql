-- How far a number lies apart between passes and failures, averaged over sometimes-pass tasks.
-- grain: run_id, feature
with

tasks as (

    select * from staging.task_differences

),

-- A number that is the same everywhere says nothing.
summed as (

    select
        run_id,
        feature,
        count(*) as n_tasks,
        count(*) filter (where is_informative) as n_informative,
        cast(sum(n_passed) as bigint) as n_passed,
        cast(sum(n_failed) as bigint) as n_failed,
        sorted_sum(mean_passed) / count(*) as mean_when_passed,
        sorted_sum(mean_failed) / count(*) as mean_when_failed,
        sorted_list(mean_passed - mean_failed) as differences

    from tasks

    group by run_id, feature

    having min(lowest) < max(highest)

),

averaged as (

    select
        *,
        list_total(differences) / nullif(n_tasks, 0) as mean_difference

    from summed

),

final as (

    select
        run_id,
        feature,
        n_tasks,
        n_informative,
        n_passed,
        n_failed,
        mean_when_passed,
        mean_when_failed,
        mean_difference,
        sqrt(
            list_total(list_transform(
                differences, lambda difference: square(difference - mean_difference)
            )) / nullif(n_tasks - 1, 0) / nullif(n_tasks, 0)
        ) as se_difference

    from averaged

)

select * from final
