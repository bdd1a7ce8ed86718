-- The lines of all five ledgers, before they are rounded: each explains a part of one change.
-- grain: base, candidate, metric, policy, ledger, slice_key, line, effect
-- kind: step
-- needs: staging.run_pairs
with
-- Runs that share no task are not runs of one thing.
task_values as materialized (
    select
        task_values.*,
        levels.n_base_tasks, levels.n_candidate_tasks, levels.n_common_tasks, levels.base_common,
        levels.candidate_common
    from staging.comparison_values as task_values
    inner join staging.comparison_levels as levels using (base, candidate, metric)
    where levels.n_common_tasks > 0
),
-- What each failure mode takes of a compared task's pass rate and reward: as scored, and with
-- missing rows. A pass may still have less than the full reward.
losses as (
    select
        attempts.run_id, attempts.task_id,
        coalesce(modes.mode, 'passed') as mode,
        [
            count(*) filter (where is_scored and not coalesce(is_pass, false))
                / nullif(sides.n_scored, 0),
            sorted_sum(case when is_scored then greatest(1, pass_threshold) - coalesce(reward, 0) end)
                / nullif(sides.n_scored, 0),
            count(*) filter (where not coalesce(is_pass, false)) / nullif(sides.n_attempts, 0),
            sorted_sum(greatest(1, pass_threshold) - coalesce(reward, 0))
                / nullif(sides.n_attempts, 0)
        ] as amounts
    from staging.attempts
    inner join staging.task_sides as sides using (run_id, task_id)
    inner join main.runs using (run_id)
    left join main.rollout_modes as modes
        on modes.run_id = attempts.run_id
        and modes.task_id = attempts.task_id
        and modes.rollout_index = attempts.rollout_index
        and modes.is_primary
    where runs.pass_threshold is not null
    group by attempts.run_id, attempts.task_id, modes.mode, sides.n_scored, sides.n_attempts
),
sides as (
    select
        base, candidate, task_id,
        is_common,
        unnest([base, candidate]) as run_id,
        unnest([true, false]) as is_base
    from main.comparison_tasks
    where is_paired
),
-- What is missing but not in the grid, where nothing says what was expected, has no mode.
mode_changes as (
    select
        base, candidate, task_id,
        is_common, mode,
        unnest(['pass_at_1', 'mean_reward', 'pass_at_1', 'mean_reward']) as metric,
        unnest(['dropped', 'dropped', 'counted_as_fail', 'counted_as_fail']) as policy,
        unnest(coalesce(any_value(amounts) filter (where is_base), [0, 0, 0, 0])) as base_loss,
        unnest(coalesce(any_value(amounts) filter (where not is_base), [0, 0, 0, 0]))
            as candidate_loss
    from sides
    inner join losses using (run_id, task_id)
    group by base, candidate, task_id, is_common, mode
),
-- What each task moves a line by, and of how many tasks the line is a mean. A task beyond the shared
-- ones moves its own run's mean.
moves as (
    select
        base, candidate, metric,
        'dropped' as policy,
        task_id,
        unnest(['bucket transitions', 'task mix', 'task mix', 'task mix']) as ledger,
        unnest([
            case when change is not null then base_bucket || ' to ' || candidate_bucket end,
            case when change is not null then 'tasks of both' end,
            case when not is_common and candidate_value is not null then case pairing
                when 'contradicted' then 'another question in the candidate'
                when 'candidate only' then 'only in the candidate'
                else 'not scored in the base'
            end end,
            case when not is_common and base_value is not null then case pairing
                when 'contradicted' then 'another question in the base'
                when 'base only' then 'only in the base'
                else 'not scored in the candidate'
            end end
        ]) as line,
        unnest([
            change,
            change,
            (candidate_value - candidate_common) / n_candidate_tasks,
            (base_common - base_value) / n_base_tasks
        ]) as change,
        unnest([n_common_tasks, n_common_tasks, null, null]) as n_units,
        unnest(['candidate', 'candidate', 'candidate', 'base']) as example_side
    from task_values
    union all by name
    select
        base, candidate, metric, policy, task_id,
        'failure modes' as ledger,
        mode as line,
        difference(coalesce(base_loss, 0), coalesce(candidate_loss, 0)) as change,
        base_loss, candidate_loss,
        case policy when 'dropped' then levels.n_common_tasks else levels.n_paired_tasks end
            as n_units
    from mode_changes
    inner join staging.comparison_levels as levels using (base, candidate, metric)
    where levels.n_common_tasks > 0 and (is_common or policy <> 'dropped')
),
-- The change of shared tasks by the buckets they went between, and by failure mode: what fewer of
-- its failures give, or more of them take. The change of the whole score: what shared tasks changed,
-- and what tasks of one run only add.
summed as (
    select
        base, candidate, metric, policy, ledger, line,
        steady_sum(change) / coalesce(n_units, 1) as amount,
        steady_sum(change * change) as sum_of_squares,
        -- How many of all attempts fail like this.
        case when metric = 'pass_at_1' then steady_sum(base_loss) / n_units end as base_rate,
        case when metric = 'pass_at_1' then steady_sum(candidate_loss) / n_units end as candidate_rate,
        count(*) filter (where change <> 0 or ledger <> 'failure modes') as n_tasks,
        n_units, example_side,
        largest_by(task_id, change) as example_task
    from moves
    where line is not null
    group by base, candidate, metric, policy, ledger, line, n_units, example_side
    having ledger <> 'failure modes' or bool_or(change <> 0)
),
keys as (
    select distinct benchmark, name as slice_key
    from staging.task_slices
),
-- Every task has a place in every slice, if only among those that name none.
sliced as (
    select
        base, candidate, metric,
        keys.slice_key,
        coalesce(slices.value, '') as line,
        count(base_value) as n_base,
        count(candidate_value) as n_candidate,
        count(change) as n_common,
        steady_sum(base_value) / nullif(n_base, 0) as base_mean,
        steady_sum(candidate_value) / nullif(n_candidate, 0) as candidate_mean,
        steady_sum(change) / nullif(n_common, 0) as mean_change,
        steady_sum(change * change) as sum_of_squares,
        largest_by(task_values.task_id, change) as example_task,
        n_base_tasks, n_candidate_tasks
    from task_values
    inner join staging.run_pairs as pairs using (base, candidate)
    inner join keys using (benchmark)
    left join staging.task_slices as slices
        on slices.benchmark = keys.benchmark
        and slices.name = keys.slice_key
        and slices.task_id = task_values.task_id
    group by all
),
-- A slice of one run only takes the other's rate.
rated as (
    select
        *,
        n_base / n_base_tasks as base_share,
        n_candidate / n_candidate_tasks as candidate_share,
        coalesce(base_mean, candidate_mean) as base_rate,
        coalesce(candidate_mean, base_mean) as candidate_rate
    from sliced
    where n_base > 0 or n_candidate > 0
),
-- The change of the whole score by slice: what its tasks changed, and what its share of tasks did.
slices as (
    select
        base, candidate, metric,
        'slices' as ledger,
        slice_key, line,
        unnest(['rate', 'mix']) as effect,
        unnest([
            (base_share + candidate_share) / 2 * (candidate_rate - base_rate),
            case when base_share <> candidate_share then
                (base_rate + candidate_rate) / 2 * (candidate_share - base_share)
            end
        ]) as amount,
        unnest([n_common, n_base + n_candidate - n_common]) as n_tasks,
        -- Of tasks that both runs have the change is a mean of differences, with an error.
        unnest([
            case when n_base = n_common and n_candidate = n_common then
                (base_share + candidate_share) / 2
                * error_of_mean(sum_of_squares, mean_change, n_common)
            end,
            null
        ]) as se,
        unnest([difference(candidate_rate, base_rate), null]) as rate_change,
        unnest([example_task, null]) as example_task
    from rated
),
lines as (
    select
        * exclude (sum_of_squares) replace (
            coalesce(n_units, n_tasks) as n_units,
            -- What a mode no longer takes was seen in the base.
            coalesce(example_side, case when amount > 0 then 'base' else 'candidate' end)
                as example_side
        ),
        -- A part of a mean of differences is itself one: its error is that of the tasks it moves.
        case when ledger <> 'task mix' then error_of_mean(sum_of_squares, amount, n_units) end as se
    from summed
    union all by name
    select
        *,
        n_tasks as n_units,
        'candidate' as example_side
    from slices
    where amount is not null
    union all by name
    select *, 'funnel' as ledger from staging.funnel_effects
)
select * replace (
    coalesce(policy, 'dropped') as policy,
    coalesce(slice_key, '') as slice_key,
    coalesce(effect, '') as effect
)
from lines
