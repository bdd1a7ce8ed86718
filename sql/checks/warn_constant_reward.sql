-- Runs in which every rollout has one and the same reward that is neither 0 nor 1.
-- grain: subject
with

final as (

    select
        run_id as subject,
        'every one of ' || count(*) || ' rollouts has the reward ' || min(reward)
            || ': it looks like one figure for the whole batch' as message,
        'blade sql "select reward, count(*) from rollouts group by all"' as hint

    from main.rollouts

    where is_scored

    group by run_id

    having
        count(*) > 1
        and count(distinct task_id) > 1
        and min(reward) = max(reward)
        and min(reward) not in (0, 1)

)

select * from final
