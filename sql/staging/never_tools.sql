-- The tools that every recorded attempt at a task that never passes calls.
-- grain: run_id, task_id
with

recorded as (

    select
        outcomes.run_id,
        outcomes.task_id,
        outcomes.n_rollouts

    from main.task_outcomes as outcomes

    where outcomes.bucket = 'never'

),

used as (

    select
        calls.run_id,
        calls.task_id,
        calls.tool,
        count(distinct calls.rollout_index) as n_rollouts

    from staging.keyed_calls as calls

    inner join recorded using (run_id, task_id)

    where calls.tool <> ''

    group by all

),

final as (

    select
        used.run_id,
        used.task_id,
        values_by(used.tool, used.tool) as tools

    from used

    inner join recorded using (run_id, task_id)

    where used.n_rollouts = recorded.n_rollouts

    group by all

)

select * from final
