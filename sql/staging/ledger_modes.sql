-- The change of shared tasks by failure mode: what fewer of its failures give, or more of them take.
-- grain: base, candidate, metric, policy, line
with

losses as (

    select * from staging.task_mode_losses

),

-- Each side of each comparison, with the sign that its losses have in the change.
sides as (

    select
        base,
        candidate,
        base as run_id,
        1 as sign,
        task_id,
        is_common,
        base_n_scored as n_scored,
        base_n_attempts as n_attempts

    from main.comparison_tasks

    where is_paired

    union all

    select
        base,
        candidate,
        candidate as run_id,
        -1 as sign,
        task_id,
        is_common,
        candidate_n_scored as n_scored,
        candidate_n_attempts as n_attempts

    from main.comparison_tasks

    where is_paired

),

weighed as (

    select
        sides.base,
        sides.candidate,
        sides.task_id,
        losses.mode,
        case when sides.is_common then sides.sign * losses.n_failed / nullif(sides.n_scored, 0) end
            as pass_loss,
        case when sides.is_common then sides.sign * losses.shortfall / nullif(sides.n_scored, 0) end
            as reward_loss,
        sides.sign * losses.n_not_passed / nullif(sides.n_attempts, 0) as counted_pass_loss,
        sides.sign * losses.counted_shortfall / nullif(sides.n_attempts, 0) as counted_reward_loss

    from sides

    inner join losses using (run_id, task_id)

),

-- What is missing but not in the grid, where nothing says what was expected, has no mode.
tasks as (

    select
        base,
        candidate,
        task_id,
        mode,
        sorted_sum(pass_loss) as pass_loss,
        sorted_sum(reward_loss) as reward_loss,
        sorted_sum(counted_pass_loss) as counted_pass_loss,
        sorted_sum(counted_reward_loss) as counted_reward_loss

    from weighed

    group by all

),

long as (

    select
        base,
        candidate,
        task_id,
        mode,
        unnest([
            loss_of('pass_at_1', 'dropped', pass_loss),
            loss_of('mean_reward', 'dropped', reward_loss),
            loss_of('pass_at_1', 'counted_as_fail', counted_pass_loss),
            loss_of('mean_reward', 'counted_as_fail', counted_reward_loss)
        ]) as lost

    from tasks

),

final as (

    select
        long.base,
        long.candidate,
        long.lost.metric,
        long.lost.policy,
        long.mode as line,
        sorted_sum(long.lost.loss) / nullif(
            case long.lost.policy
                when 'dropped' then levels.n_common_tasks
                else levels.n_paired_tasks
            end,
            0
        ) as amount,
        sorted_sum(square(long.lost.loss)) as sum_of_squares,
        count(*) as n_tasks,
        largest_by(long.task_id, long.lost.loss) as example_task

    from long

    inner join staging.comparison_levels as levels
        on levels.base = long.base
        and levels.candidate = long.candidate
        and levels.metric = long.lost.metric

    where long.lost.loss <> 0

    group by
        long.base,
        long.candidate,
        long.lost.metric,
        long.lost.policy,
        long.mode,
        levels.n_common_tasks,
        levels.n_paired_tasks

)

select * from final
