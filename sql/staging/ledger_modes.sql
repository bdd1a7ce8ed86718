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
        tasks.is_common,
        losses.mode,
        losses.pass_loss,
        losses.reward_loss,
        losses.counted_pass_loss,
        losses.counted_reward_loss

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
        tasks.is_common,
        losses.mode,
        losses.pass_loss,
        losses.reward_loss,
        losses.counted_pass_loss,
        losses.counted_reward_loss

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
        is_common,
        mode,
        difference(coalesce(bases.pass_loss, 0), coalesce(candidates.pass_loss, 0)) as pass_loss,
        difference(coalesce(bases.reward_loss, 0), coalesce(candidates.reward_loss, 0))
            as reward_loss,
        difference(
            coalesce(bases.counted_pass_loss, 0), coalesce(candidates.counted_pass_loss, 0)
        ) as counted_pass_loss,
        difference(
            coalesce(bases.counted_reward_loss, 0), coalesce(candidates.counted_reward_loss, 0)
        ) as counted_reward_loss

    from bases

    full join candidates using (base, candidate, task_id, is_common, mode)

),

long as (

    select
        base,
        candidate,
        task_id,
        mode,
        unnest([
            loss_of('pass_at_1', 'dropped', case when is_common then pass_loss end),
            loss_of('mean_reward', 'dropped', case when is_common then reward_loss end),
            loss_of('pass_at_1', 'counted_as_fail', counted_pass_loss),
            loss_of('mean_reward', 'counted_as_fail', counted_reward_loss)
        ]) as lost

    from changes

),

final as (

    select
        long.base,
        long.candidate,
        long.lost.metric,
        long.lost.policy,
        long.mode as line,
        steady_sum(long.lost.loss) / nullif(
            case long.lost.policy
                when 'dropped' then levels.n_common_tasks
                else levels.n_paired_tasks
            end,
            0
        ) as amount,
        steady_sum(square(long.lost.loss)) as sum_of_squares,
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
