-- The change of shared tasks by failure mode: what fewer of its failures give, or more of them take.
-- grain: base, candidate, metric, policy, line
with

tasks as (

    select * from main.comparison_tasks where is_paired

),

losses as (

    select * from staging.task_mode_losses

),

bases as (

    select
        tasks.base,
        tasks.candidate,
        tasks.task_id,
        losses.mode,
        case when tasks.is_common then losses.n_failed / nullif(tasks.base_n_scored, 0) end
            as pass_loss,
        case when tasks.is_common then losses.shortfall / nullif(tasks.base_n_scored, 0) end
            as reward_loss,
        losses.n_not_passed / nullif(tasks.base_n_attempts, 0) as counted_pass_loss,
        losses.counted_shortfall / nullif(tasks.base_n_attempts, 0) as counted_reward_loss

    from tasks

    inner join losses
        on losses.run_id = tasks.base
        and losses.task_id = tasks.task_id

),

candidates as (

    select
        tasks.base,
        tasks.candidate,
        tasks.task_id,
        losses.mode,
        case when tasks.is_common then losses.n_failed / nullif(tasks.candidate_n_scored, 0) end
            as pass_loss,
        case when tasks.is_common then losses.shortfall / nullif(tasks.candidate_n_scored, 0) end
            as reward_loss,
        losses.n_not_passed / nullif(tasks.candidate_n_attempts, 0) as counted_pass_loss,
        losses.counted_shortfall / nullif(tasks.candidate_n_attempts, 0) as counted_reward_loss

    from tasks

    inner join losses
        on losses.run_id = tasks.candidate
        and losses.task_id = tasks.task_id

),

-- What is missing but not in the grid, where nothing says what was expected, has no mode.
changes as (

    select
        base,
        candidate,
        task_id,
        mode,
        unnest([
            loss_of(
                'pass_at_1',
                'dropped',
                difference(coalesce(bases.pass_loss, 0), coalesce(candidates.pass_loss, 0))
            ),
            loss_of(
                'mean_reward',
                'dropped',
                difference(coalesce(bases.reward_loss, 0), coalesce(candidates.reward_loss, 0))
            ),
            loss_of(
                'pass_at_1',
                'counted_as_fail',
                difference(
                    coalesce(bases.counted_pass_loss, 0), coalesce(candidates.counted_pass_loss, 0)
                )
            ),
            loss_of(
                'mean_reward',
                'counted_as_fail',
                difference(
                    coalesce(bases.counted_reward_loss, 0),
                    coalesce(candidates.counted_reward_loss, 0)
                )
            )
        ]) as lost

    from bases

    full join candidates using (base, candidate, task_id, mode)

),

final as (

    select
        changes.base,
        changes.candidate,
        changes.lost.metric,
        changes.lost.policy,
        changes.mode as line,
        steady_sum(changes.lost.loss) / nullif(
            case changes.lost.policy
                when 'dropped' then levels.n_common_tasks
                else levels.n_paired_tasks
            end,
            0
        ) as amount,
        steady_sum(square(changes.lost.loss)) as sum_of_squares,
        count(*) as n_tasks,
        largest_by(changes.task_id, changes.lost.loss) as example_task

    from changes

    inner join staging.comparison_levels as levels
        on levels.base = changes.base
        and levels.candidate = changes.candidate
        and levels.metric = changes.lost.metric

    where changes.lost.loss <> 0

    group by
        changes.base,
        changes.candidate,
        changes.lost.metric,
        changes.lost.policy,
        changes.mode,
        levels.n_common_tasks,
        levels.n_paired_tasks

)

select * from final
