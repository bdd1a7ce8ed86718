-- Runs in which every rollout has one and the same reward that is neither 0 nor 1.
-- grain: subject
with

final as (

    select
        run_id as subject,
        'every one of ' || n_rollouts || ' rollouts has the reward ' || reward
            || ': it looks like one figure for the whole batch' as message,
        'blade sql "select reward, count(*) from rollouts group by all"' as hint

    from staging.constant_rewards

)

select * from final
