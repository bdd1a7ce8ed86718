-- Benchmarks with more tasks than the profile says there are.
-- grain: subject
with

seen as (

    select
        benchmark,
        count(*) as n_tasks

    from main.tasks

    where not starts_with(task_id, 'unseen-')

    group by all

),

final as (

    select
        seen.benchmark as subject,
        'holds ' || seen.n_tasks || ' tasks where the profile expects ' || settings.n_expected_tasks
            as message,
        'Correct tasks in the [expected] of blade.toml, or name the tasks there' as hint

    from seen

    cross join raw.settings as settings

    where seen.n_tasks > settings.n_expected_tasks and not settings.has_expected_names

)

select * from final
