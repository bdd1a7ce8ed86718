-- How many tasks two runs share: by question, by id where no question was recorded.
-- grain: left_run, right_run
with

-- An index alone says little: it only counts between files of one folder.
tasks as (

    select distinct
        keys.run_id,
        case
            when records.prompt <> '' then 'prompt ' || records.prompt_sha
            when task_keys.task_id_source = 'index'
                then 'index ' || regexp_replace(records.source_file, '[^/]*$', '') || keys.task_id
            else 'id ' || keys.task_id
        end as token

    from staging.keys as keys

    inner join staging.records as records using (record_id)

    inner join staging.task_keys as task_keys using (record_id)

    where keys.role in ('rollout', 'input')

),

sizes as (

    select
        run_id,
        count(*) as n_tasks

    from tasks

    group by all

),

pairs as (

    select
        left_tasks.run_id as left_run,
        right_tasks.run_id as right_run,
        count(*) as n_shared

    from tasks as left_tasks

    inner join tasks as right_tasks using (token)

    where left_tasks.run_id < right_tasks.run_id

    group by all

),

final as (

    select
        pairs.left_run,
        pairs.right_run,
        pairs.n_shared,
        least(left_sizes.n_tasks, right_sizes.n_tasks) as n_smaller

    from pairs

    inner join sizes as left_sizes on left_sizes.run_id = pairs.left_run

    inner join sizes as right_sizes on right_sizes.run_id = pairs.right_run

)

select * from final
