-- A few tasks of each bucket that asks for a look, with a passing and a failing rollout to open.
-- grain: run_id, task_id
with outcomes as (
    select * from main.task_outcomes where bucket in ('sometimes', 'never', 'missing')
),
-- Passes and failures in equal number tell most; of what never passes, what came nearest to it.
ranked as (
    select
        *,
        row_number() over (
            partition by run_id, bucket
            order by
                case bucket when 'sometimes' then abs(pass_rate - 0.5) else -coalesce(max_reward, 0) end,
                try_cast(task_id as bigint),
                task_id
        ) as rank
    from outcomes
),
chosen as (
    select * from ranked where rank <= 10
),
examples as (
    select
        rollouts.run_id,
        rollouts.task_id,
        min(rollouts.rollout_index) filter (where rollouts.is_pass) as passing_index,
        min(rollouts.rollout_index) filter (where not rollouts.is_pass) as failing_index
    from staging.rollouts
    inner join chosen using (run_id, task_id)
    group by all
)
select
    chosen.run_id,
    chosen.task_id,
    chosen.bucket,
    chosen.n_scored,
    chosen.n_passed,
    chosen.max_reward,
    left(prompts.prompt, 200) as prompt,
    chosen.run_id || '/' || chosen.task_id || ':' || examples.passing_index as passing,
    chosen.run_id || '/' || chosen.task_id || ':' || examples.failing_index as failing
from chosen
left join staging.run_tasks as questions using (run_id, task_id)
left join main.task_prompts as prompts using (run_id, task_id, prompt_sha)
left join examples using (run_id, task_id)
order by
    chosen.run_id,
    case chosen.bucket when 'sometimes' then 1 when 'never' then 2 else 3 end,
    chosen.rank
