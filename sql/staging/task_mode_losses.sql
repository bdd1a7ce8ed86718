-- What each failure mode takes from a task of a compared run: attempts that did not pass, and reward.
-- grain: run_id, task_id, mode
-- kind: table
with

compared as (

    select run_id from staging.task_sides group by all

),

attempts as (

    select
        attempts.run_id,
        attempts.task_id,
        -- A pass may still have less than the full reward.
        coalesce(modes.mode, 'passed') as mode,
        attempts.is_scored,
        not coalesce(attempts.is_pass, false) as is_failure,
        greatest(1, runs.pass_threshold) - coalesce(attempts.reward, 0) as shortfall

    from staging.attempts as attempts

    inner join compared using (run_id)

    inner join main.runs as runs using (run_id)

    left join main.rollout_modes as modes
        on modes.run_id = attempts.run_id
        and modes.task_id = attempts.task_id
        and modes.rollout_index = attempts.rollout_index
        and modes.is_primary

    where runs.pass_threshold is not null

),

final as (

    select
        run_id,
        task_id,
        mode,
        count(*) filter (where is_failure and is_scored) as n_failed,
        count(*) filter (where is_failure) as n_not_passed,
        sorted_sum(case when is_scored then shortfall end) as shortfall,
        sorted_sum(shortfall) as counted_shortfall

    from attempts

    group by all

)

select * from final
