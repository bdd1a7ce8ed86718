-- The headline row of each run: what was expected, what was recorded, what it scored.
-- grain: run_id
with

runs as (

    select * from main.runs

),

rollouts as (

    select * from main.rollouts

),

-- Floats are summed over sorted lists: the last digit must not depend on the threads.
task_rewards as (

    select
        run_id,
        task_id,
        list_sum(list(reward order by reward)) / nullif(count(reward), 0) as mean_reward

    from rollouts

    where is_scored

    group by all

),

rewards as (

    select
        run_id,
        list_sum(list(mean_reward order by mean_reward)) / nullif(count(mean_reward), 0) as mean_reward

    from task_rewards

    group by all

),

missing as (

    select
        expected.run_id,
        count(*) as n_missing

    from main.expected as expected

    left join rollouts using (run_id, task_id, rollout_index)

    where expected.source = 'inputs' and rollouts.run_id is null

    group by all

),

rejects as (

    select
        run_id,
        cast(sum(n_rejects) as bigint) as n_rejects

    from (select unnest(run_ids) as run_id, n_rejects from main.artifacts) as per_run

    group by all

),

final as (

    select
        runs.benchmark,
        runs.run_id,
        runs.model,
        runs.n_tasks,
        runs.n_rollouts,
        runs.n_expected,
        runs.n_scored,
        case when runs.expected_source = 'inputs' then coalesce(missing.n_missing, 0) end as n_missing,
        coalesce(rejects.n_rejects, 0) as n_rejects,
        rewards.mean_reward

    from runs

    left join rewards using (run_id)

    left join missing using (run_id)

    left join rejects using (run_id)

    order by runs.benchmark, runs.run_id

)

select * from final
