-- What the profile says each run should hold, where no input rows say it.
-- grain: run_id, task_id, rollout_index
with

settings as (

    select * from raw.settings

),

tasks as (

    select * from staging.expected_tasks

),

recorded as (

    select
        keys.run_id,
        keys.task_id,
        keys.rollout_index

    from staging.rollout_keys as keys

    inner join tasks using (run_id, task_id)

),

-- The repeats there are count first, then the lowest numbers that are free.
slots as (

    select
        run_id,
        task_id,
        rollout_index,
        0 as priority

    from recorded

    union all

    select
        tasks.run_id,
        tasks.task_id,
        tasks.rollout_index,
        1 as priority

    from (

        select
            tasks.run_id,
            tasks.task_id,
            unnest(range(0, coalesce(settings.n_expected_repeats, 1))) as rollout_index

        from tasks

        cross join settings

    ) as tasks

    left join recorded using (run_id, task_id, rollout_index)

    where recorded.run_id is null

),

ranked as (

    select
        slots.*,
        row_number() over (partition by run_id, task_id order by priority, rollout_index) as rank

    from slots

),

final as (

    select
        ranked.run_id,
        ranked.task_id,
        ranked.rollout_index

    from ranked

    cross join settings

    where
        ranked.rank <= settings.n_expected_repeats
        or (settings.n_expected_repeats is null and (ranked.priority = 0 or ranked.rank = 1))

)

select * from final
