-- The lines of all five ledgers, before they are rounded: each explains a part of one change.
-- grain: base, candidate, metric, policy, ledger, slice_key, line, effect
-- kind: table
with levels as (
    select * from staging.comparison_levels where n_common_tasks > 0
),
tasks as (
    select * from main.comparison_tasks where is_paired
),
attempts as (
    select
        attempts.run_id,
        attempts.task_id,
        -- A pass may still have less than the full reward.
        coalesce(modes.mode, 'passed') as mode,
        attempts.is_scored,
        not coalesce(attempts.is_pass, false) as is_failure,
        greatest(1, runs.pass_threshold) - coalesce(attempts.reward, 0) as shortfall,
        sides.n_scored,
        sides.n_attempts
    from staging.attempts
    inner join staging.task_sides as sides using (run_id, task_id)
    inner join main.runs using (run_id)
    left join main.rollout_modes as modes
        on modes.run_id = attempts.run_id
        and modes.task_id = attempts.task_id
        and modes.rollout_index = attempts.rollout_index
        and modes.is_primary
    where runs.pass_threshold is not null
),
-- What each failure mode takes of a compared task's pass rate and reward: as scored, and with missing rows.
task_mode_losses as materialized (
    select
        run_id,
        task_id,
        mode,
        count(*) filter (where is_failure and is_scored) / nullif(n_scored, 0) as pass_loss,
        sorted_sum(case when is_scored then shortfall end) / nullif(n_scored, 0) as reward_loss,
        count(*) filter (where is_failure) / nullif(n_attempts, 0) as counted_pass_loss,
        sorted_sum(shortfall) / nullif(n_attempts, 0) as counted_reward_loss
    from attempts
    group by run_id, task_id, mode, n_scored, n_attempts
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
    inner join task_mode_losses as losses
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
    inner join task_mode_losses as losses
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
-- The change of shared tasks by failure mode: what fewer of its failures give, or more of them take.
ledger_modes as (
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
),
ledger_transitions_tasks as (
    select
        task_values.base,
        task_values.candidate,
        task_values.metric,
        task_values.task_id,
        task_values.change,
        tasks.base_bucket,
        tasks.candidate_bucket
    from staging.comparison_values as task_values
    inner join main.comparison_tasks as tasks using (base, candidate, task_id)
    where
        task_values.change is not null
        and tasks.base_bucket is not null
        and tasks.candidate_bucket is not null
),
-- The change of shared tasks by the buckets they went between.
ledger_transitions as (
    select
        tasks.base,
        tasks.candidate,
        tasks.metric,
        tasks.base_bucket || ' to ' || tasks.candidate_bucket as line,
        steady_sum(tasks.change) / levels.n_common_tasks as amount,
        steady_sum(square(tasks.change)) as sum_of_squares,
        count(*) as n_tasks,
        largest_by(tasks.task_id, tasks.change) as example_task
    from ledger_transitions_tasks as tasks
    inner join staging.comparison_levels as levels using (base, candidate, metric)
    group by
        tasks.base,
        tasks.candidate,
        tasks.metric,
        tasks.base_bucket,
        tasks.candidate_bucket,
        levels.n_common_tasks
),
-- A part of a mean of differences is itself one: its error is that of the tasks it moves.
averaged as (
    select
        base,
        candidate,
        metric,
        'dropped' as policy,
        'bucket transitions' as ledger,
        line,
        amount,
        sum_of_squares,
        n_tasks,
        example_task
    from ledger_transitions
    union all
    select
        base,
        candidate,
        metric,
        policy,
        'failure modes' as ledger,
        line,
        amount,
        sum_of_squares,
        n_tasks,
        example_task
    from ledger_modes
),
spread as (
    select
        averaged.*,
        case averaged.policy
            when 'dropped' then levels.n_common_tasks
            else levels.n_paired_tasks
        end as n_units
    from averaged
    inner join levels using (base, candidate, metric)
),
ledger_mix_levels as (
    select * from staging.comparison_levels where n_common_tasks > 0
),
task_values as (
    select task_values.*
    from staging.comparison_values as task_values
    inner join ledger_mix_levels as levels using (base, candidate, metric)
),
-- What a task beyond the shared ones moves its run's mean by.
extra as (
    select
        task_values.base,
        task_values.candidate,
        task_values.metric,
        task_values.task_id,
        'candidate' as side,
        case
            when task_values.pairing = 'contradicted' then 'another question in the candidate'
            when task_values.pairing = 'candidate only' then 'only in the candidate'
            else 'not scored in the base'
        end as line,
        (task_values.candidate_value - levels.candidate_common) / levels.n_candidate_tasks
            as amount
    from task_values
    inner join ledger_mix_levels as levels using (base, candidate, metric)
    where not task_values.is_common and task_values.candidate_value is not null
    union all
    select
        task_values.base,
        task_values.candidate,
        task_values.metric,
        task_values.task_id,
        'base' as side,
        case
            when task_values.pairing = 'contradicted' then 'another question in the base'
            when task_values.pairing = 'base only' then 'only in the base'
            else 'not scored in the candidate'
        end as line,
        (levels.base_common - task_values.base_value) / levels.n_base_tasks as amount
    from task_values
    inner join ledger_mix_levels as levels using (base, candidate, metric)
    where not task_values.is_common and task_values.base_value is not null
),
shared as (
    select
        base,
        candidate,
        metric,
        largest_by(task_id, change) as example_task
    from task_values
    group by all
),
-- The change of the whole score: what shared tasks changed, and what tasks of one run only add.
ledger_mix as (
    select
        levels.base,
        levels.candidate,
        levels.metric,
        'tasks of both' as line,
        levels.delta as amount,
        levels.n_common_tasks as n_tasks,
        'candidate' as example_side,
        shared.example_task
    from ledger_mix_levels as levels
    inner join shared using (base, candidate, metric)
    union all
    select
        base,
        candidate,
        metric,
        line,
        steady_sum(amount) as amount,
        count(*) as n_tasks,
        side as example_side,
        largest_by(task_id, amount) as example_task
    from extra
    group by base, candidate, metric, line, side
),
keys as (
    select
        benchmark,
        name as slice_key
    from staging.task_slices
    group by all
),
-- Every task has a place in every slice, if only among those that name none.
ledger_slices_tasks as (
    select
        task_values.*,
        keys.slice_key,
        coalesce(slices.value, '') as slice_value
    from staging.comparison_values as task_values
    inner join staging.run_pairs as pairs using (base, candidate)
    inner join keys using (benchmark)
    left join staging.task_slices as slices
        on slices.benchmark = keys.benchmark
        and slices.name = keys.slice_key
        and slices.task_id = task_values.task_id
),
counted as (
    select
        base,
        candidate,
        metric,
        slice_key,
        slice_value,
        count(base_value) as n_base,
        count(candidate_value) as n_candidate,
        count(change) as n_common,
        steady_sum(base_value) / nullif(count(base_value), 0) as base_mean,
        steady_sum(candidate_value) / nullif(count(candidate_value), 0) as candidate_mean,
        steady_sum(change) as total,
        steady_sum(square(change)) as sum_of_squares,
        largest_by(task_id, change) as example_task
    from ledger_slices_tasks as tasks
    group by all
),
-- A slice of one run only takes the other's rate.
ledger_slices_shared as (
    select
        counted.*,
        counted.n_base / levels.n_base_tasks as base_share,
        counted.n_candidate / levels.n_candidate_tasks as candidate_share,
        coalesce(counted.base_mean, counted.candidate_mean) as base_rate,
        coalesce(counted.candidate_mean, counted.base_mean) as candidate_rate,
        counted.n_base = counted.n_common and counted.n_candidate = counted.n_common as is_same
    from counted
    inner join staging.comparison_levels as levels using (base, candidate, metric)
    -- Runs that share no task are not runs of one thing.
    where levels.n_common_tasks > 0
),
-- The change of the whole score by slice: what its tasks changed, and what its share of tasks did.
ledger_slices as (
    select
        base,
        candidate,
        metric,
        slice_key,
        slice_value,
        'rate' as effect,
        (base_share + candidate_share) / 2 * (candidate_rate - base_rate) as amount,
        n_common as n_tasks,
        -- Of tasks that both runs have the change is a mean of differences, with an error.
        case when is_same then
            (base_share + candidate_share) / 2
            * error_of_mean(sum_of_squares, total / nullif(n_common, 0), n_common)
        end as se,
        difference(candidate_rate, base_rate) as rate_change,
        example_task
    from ledger_slices_shared as shared
    where n_base > 0 or n_candidate > 0
    union all
    select
        base,
        candidate,
        metric,
        slice_key,
        slice_value,
        'mix' as effect,
        (base_rate + candidate_rate) / 2 * (candidate_share - base_share) as amount,
        n_base + n_candidate - n_common as n_tasks,
        null as se,
        null as rate_change,
        null as example_task
    from ledger_slices_shared as shared
    where base_share <> candidate_share
)
select
    base,
    candidate,
    metric,
    'dropped' as policy,
    'task mix' as ledger,
    '' as slice_key,
    line,
    '' as effect,
    amount,
    n_tasks,
    null as se,
    n_tasks as n_units,
    null as rate_change,
    example_side,
    example_task
from ledger_mix
union all
select
    base,
    candidate,
    metric,
    policy,
    ledger,
    '' as slice_key,
    line,
    '' as effect,
    amount,
    n_tasks,
    error_of_mean(sum_of_squares, amount, n_units) as se,
    n_units,
    null as rate_change,
    -- What a mode no longer takes was seen in the base.
    case when ledger = 'failure modes' and amount > 0 then 'base' else 'candidate' end
        as example_side,
    example_task
from spread
union all
select
    base,
    candidate,
    metric,
    'dropped' as policy,
    'funnel' as ledger,
    '' as slice_key,
    line,
    effect,
    amount,
    null as n_tasks,
    null as se,
    null as n_units,
    null as rate_change,
    null as example_side,
    null as example_task
from staging.funnel_effects
union all
select
    base,
    candidate,
    metric,
    'dropped' as policy,
    'slices' as ledger,
    slice_key,
    slice_value as line,
    effect,
    amount,
    n_tasks,
    se,
    n_tasks as n_units,
    rate_change,
    'candidate' as example_side,
    example_task
from ledger_slices
