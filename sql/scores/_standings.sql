-- The rank of a run in its benchmark, with other tasks and with reruns.
-- grain: run_id
-- kind: step
-- needs: (from main.runs limit 1 offset 1)
with outcomes as (
    select
        outcomes.*,
        tasks.task_group,
        -- By rewards, where some is more than a pass or a failure, or nothing says what passes.
        bool_or(pass_rate is null or abs(mean_reward - pass_rate) > 1e-9)
            over (partition by benchmark) as is_by_reward
    from main.task_outcomes as outcomes
    inner join staging.run_tasks as tasks using (run_id, task_id)
    -- Different questions under one id are different tasks.
    where outcomes.n_scored > 0 and tasks.question is null
    qualify min(run_id) over (partition by benchmark) < max(run_id) over (partition by benchmark)
),
-- Runs that differ in nothing that is recorded of them; a model that nothing names may be any.
alike as (
    select
        run_id,
        [
            benchmark, model, checkpoint, agent, pass_threshold::varchar, sampling::varchar,
            limits::varchar, skills_hash
        ]::varchar as settings
    from main.runs
    where model is not null and n_scored > 0
    qualify count(*) over (partition by settings) > 1
),
prompts as (
    select
        run_id,
        string_agg(distinct md5(system_prompt), ' ' order by md5(system_prompt)) as prompts
    from main.task_prompts
    semi join alike using (run_id)
    group by all
)
select
    outcomes.benchmark,
    run_id,
    md5(alike.settings || coalesce(prompts.prompts, '')) as settings,
    outcomes.task_id,
    outcomes.task_group,
    outcomes.n_scored,
    if(is_by_reward, mean_reward, pass_rate) as value,
    if(
        is_by_reward,
        reward_std * reward_std / n_scored,
        pass_rate * (1 - pass_rate) / nullif(n_scored - 1, 0)
    ) as sampling_variance
from outcomes
left join alike using (run_id)
left join prompts using (run_id)
order by benchmark, run_id, task_id
