-- The recorded rollouts that show what a rule says of a task: at most three.
-- grain: run_id, task_id, rule
with

cited as (

    select
        attempts.run_id,
        attempts.task_id,
        attempts.rule,
        attempts.run_id || '/' || rollouts.rollout_id || coalesce('#' || attempts.seq, '') as citation,
        row_number() over (
            partition by attempts.run_id, attempts.task_id, attempts.rule
            order by attempts.rollout_index
        ) as rank

    from staging.cause_attempts as attempts

    inner join main.rollouts as rollouts using (run_id, task_id, rollout_index)

),

-- Of a task as a whole, any failing attempt speaks.
whole as (

    select
        tasks.run_id,
        tasks.task_id,
        tasks.rule,
        tasks.run_id || '/' || rollouts.rollout_id as citation,
        row_number() over (
            partition by tasks.run_id, tasks.task_id, tasks.rule order by rollouts.rollout_index
        ) as rank

    from staging.cause_tasks as tasks

    inner join main.rollouts as rollouts using (run_id, task_id)

    where not coalesce(rollouts.is_pass, false)

),

every as (

    select * from cited where rank <= 3

    union all

    select * from whole where rank <= 3

),

final as (

    select
        run_id,
        task_id,
        rule,
        values_by(citation, rank) as evidence

    from every

    group by all

)

select * from final
