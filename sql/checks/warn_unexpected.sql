-- Runs with rollouts that their inputs never asked for.
-- grain: subject
with

final as (

    select
        rollouts.run_id as subject,
        count(*) || ' rollouts were not among the expected inputs; are the inputs of another run?'
            as message,
        'blade sql "from rollouts anti join expected using (run_id, task_id, rollout_index)"' as hint

    from main.rollouts as rollouts

    inner join main.runs as runs using (run_id)

    left join main.expected as expected using (run_id, task_id, rollout_index)

    where runs.n_expected is not null and expected.task_id is null

    group by rollouts.run_id

)

select * from final
