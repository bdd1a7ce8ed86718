-- How many scored rollouts of a task show the same facts, and what they were worth together.
-- grain: run_id, task_id, facts, is_pass
-- kind: table
with

final as (

    select
        facts.run_id,
        facts.task_id,
        facts.facts,
        facts.is_pass,
        count(*) as n_rollouts,
        sorted_sum(attempts.reward) as total_reward

    from staging.stage_facts as facts

    inner join staging.task_sides as sides using (run_id, task_id)

    inner join staging.attempts as attempts using (run_id, task_id, rollout_index)

    where attempts.is_scored

    group by facts.run_id, facts.task_id, facts.facts, facts.is_pass

)

select * from final
