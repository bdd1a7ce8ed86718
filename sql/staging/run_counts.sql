-- Counts of each run: tasks, rollouts, expected rows, repeats.
-- grain: run_id
with

runs as (

    select * from staging.run_keys

),

rollouts as (

    select
        run_id,
        count(*) as n_rollouts

    from staging.rollout_keys

    group by all

),

expected as (

    select
        run_id,
        count(*) filter (where source <> 'inferred') as n_expected,
        case
            when count(*) filter (where source = 'inputs') > 0 then 'inputs'
            when count(*) filter (where source = 'profile') > 0 then 'profile'
            else 'inferred'
        end as source

    from main.expected

    group by all

),

tasks as (

    select
        run_id,
        count(distinct task_id) as n_tasks

    from (

        select run_id, task_id from staging.rollout_keys

        union all

        select run_id, task_id from main.expected where source <> 'inferred'

    ) as seen

    group by all

),

per_task as (

    select
        run_id,
        task_id,
        count(*) as n_repeats

    from main.expected

    where source <> 'inferred'

    group by all

    union all

    select
        run_id,
        task_id,
        count(*) as n_repeats

    from staging.rollout_keys

    where run_id not in (select run_id from main.expected where source <> 'inferred')

    group by all

),

repeats as (

    select
        run_id,
        n_repeats,
        row_number() over (partition by run_id order by count(*) desc, n_repeats desc) as rank

    from per_task

    group by run_id, n_repeats

),

final as (

    select
        runs.run_id,
        coalesce(tasks.n_tasks, 0) as n_tasks,
        coalesce(rollouts.n_rollouts, 0) as n_rollouts,
        nullif(expected.n_expected, 0) as n_expected,
        coalesce(expected.source, 'unknown') as expected_source,
        repeats.n_repeats

    from runs

    left join rollouts using (run_id)

    left join expected using (run_id)

    left join tasks using (run_id)

    left join repeats
        on repeats.run_id = runs.run_id
        and repeats.rank = 1

)

select * from final
