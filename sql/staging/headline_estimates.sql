-- The estimates a headline needs, a column each: pass@1, pass^k at the usual k, the mean reward.
-- grain: run_id
with

estimates as (

    select
        estimates.*,
        task_totals.k as usual_k

    from main.estimates as estimates

    inner join staging.task_totals as task_totals using (run_id)

),

final as (

    select
        run_id,
        max(value) filter (where metric = 'pass_at' and k = 1) as pass_at_1,
        max(se_new_tasks) filter (where metric = 'pass_at' and k = 1) as pass_at_1_se_new_tasks,
        max(ci_new_tasks_low) filter (where metric = 'pass_at' and k = 1) as pass_at_1_ci_new_tasks_low,
        max(ci_new_tasks_high) filter (where metric = 'pass_at' and k = 1) as pass_at_1_ci_new_tasks_high,
        max(se_same_tasks) filter (where metric = 'pass_at' and k = 1) as pass_at_1_se_same_tasks,
        max(ci_same_tasks_low) filter (where metric = 'pass_at' and k = 1) as pass_at_1_ci_same_tasks_low,
        max(ci_same_tasks_high) filter (where metric = 'pass_at' and k = 1) as pass_at_1_ci_same_tasks_high,
        max(value) filter (where metric = 'pass_at' and k = usual_k) as pass_at_k_unbiased,
        max(value) filter (where metric = 'pass_hat' and k = usual_k) as pass_hat_k,
        max(value) filter (where metric = 'mean_reward') as mean_reward,
        max(se_new_tasks) filter (where metric = 'mean_reward') as mean_reward_se_new_tasks,
        max(ci_new_tasks_low) filter (where metric = 'mean_reward') as mean_reward_ci_new_tasks_low,
        max(ci_new_tasks_high) filter (where metric = 'mean_reward') as mean_reward_ci_new_tasks_high

    from estimates

    group by run_id

)

select * from final
