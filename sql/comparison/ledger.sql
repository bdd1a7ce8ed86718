-- Why the score changed: five ways to take a change apart, each of which adds up to it.
-- grain: base, candidate, metric, policy, ledger, slice_key, line_no
-- looks at: across
-- kind: table
-- needs: staging.run_pairs
-- computed by: pipeline.analysis.ledgers.funnel_effects from funnel_ends
-- columns: base, candidate, metric, line, effect, amount
-- computed by: pipeline.analysis.intervals.ledger_lines from unrounded
-- columns: *, ci_low, ci_high
with
-- The stages that both runs have, as steps. Not `expected` and `recorded`: all that was scored was
-- recorded, and to be expected is no step.
stages as (
    select
        pairs.base,
        pairs.candidate,
        bases.stage_no,
        bases.stage,
        row_number() over (partition by pairs.base, pairs.candidate order by bases.stage_no)
            as step_no
    from staging.run_pairs as pairs
    inner join main.funnel as bases on bases.run_id = pairs.base
    inner join main.funnel as candidates
        on candidates.run_id = pairs.candidate
        and candidates.stage_no = bases.stage_no
        and candidates.stage = bases.stage
    where bases.stage not in ('expected', 'recorded')
),
paths as (
    select
        base,
        candidate,
        list(stage_no order by step_no) as stage_nos
    from stages
    group by all
),
funnel_sides as (
    select
        base,
        candidate,
        task_id,
        unnest([base, candidate]) as run_id,
        unnest([base_n_scored, candidate_n_scored]) as n_scored,
        unnest([true, false]) as is_base
    from main.comparison_tasks
    where is_common
),
-- How many scored rollouts of a task show the same facts, and what they were worth together.
task_facts as (
    select
        run_id,
        task_id,
        facts.facts,
        facts.is_pass,
        count(*) as n_rollouts,
        sorted_sum(attempts.reward) as total_reward
    from staging.stage_facts as facts
    semi join staging.task_sides using (run_id, task_id)
    inner join staging.attempts using (run_id, task_id, rollout_index)
    where attempts.is_scored
    group by all
),
-- Rollouts that show the same facts end at the same step.
weighed as (
    select
        base,
        candidate,
        is_base,
        facts.facts,
        facts.is_pass,
        steady_sum(facts.n_rollouts / nullif(funnel_sides.n_scored, 0)) as weight,
        steady_sum(facts.total_reward / nullif(funnel_sides.n_scored, 0)) as reward
    from funnel_sides
    inner join task_facts as facts using (run_id, task_id)
    group by all
),
-- A rollout ends at the last step before the first stage that it does not show ('0' in its facts); a
-- pass has gone through all.
ended as (
    select
        weighed.*,
        case
            when weighed.is_pass then length(paths.stage_nos)
            else coalesce(
                list_position(
                    list_transform(
                        paths.stage_nos, lambda stage_no: substring(weighed.facts, stage_no, 1)
                    ),
                    '0'
                ) - 1,
                length(paths.stage_nos)
            )
        end as step_no
    from weighed
    inner join paths using (base, candidate)
),
steps as (
    select
        base,
        candidate,
        step_no,
        stage
    from stages
    union all
    select
        base,
        candidate,
        0 as step_no,
        'none' as stage
    from staging.run_pairs
),
-- Where scored rollouts of shared tasks end: at each step their weight and their rewards.
funnel_ends as (
    select
        base,
        candidate,
        step_no,
        steps.stage,
        coalesce(steady_sum(case when ended.is_base then ended.weight end), 0) as base_weight,
        coalesce(steady_sum(case when ended.is_base then ended.reward end), 0) as base_reward,
        coalesce(steady_sum(case when not ended.is_base then ended.weight end), 0) as candidate_weight,
        coalesce(steady_sum(case when not ended.is_base then ended.reward end), 0) as candidate_reward
    from steps
    left join ended using (base, candidate, step_no)
    group by all
    order by base, candidate, step_no
),
-- A pair without a shared task has no ledger.
task_values as materialized (
    select
        task_values.*,
        levels.n_base_tasks,
        levels.n_candidate_tasks,
        levels.n_common_tasks,
        levels.base_common,
        levels.candidate_common
    from staging.comparison_values as task_values
    inner join staging.comparison_levels as levels using (base, candidate, metric)
    where levels.n_common_tasks > 0
),
-- What each failure mode takes from a compared task, four amounts: from its pass rate and its reward
-- over scored attempts, then from both over all attempts. A pass may still have less than the full
-- reward.
losses as (
    select
        attempts.run_id,
        attempts.task_id,
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
        base,
        candidate,
        task_id,
        is_common,
        unnest([base, candidate]) as run_id,
        unnest([true, false]) as is_base
    from main.comparison_tasks
    where is_paired
),
-- What is missing but not in the grid, where nothing says what was expected, has no mode.
mode_changes as (
    select
        base,
        candidate,
        task_id,
        is_common,
        mode,
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
        base,
        candidate,
        metric,
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
        base,
        candidate,
        metric,
        policy,
        task_id,
        'failure modes' as ledger,
        mode as line,
        difference(coalesce(base_loss, 0), coalesce(candidate_loss, 0)) as change,
        base_loss,
        candidate_loss,
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
        base,
        candidate,
        metric,
        policy,
        ledger,
        line,
        steady_sum(change) / coalesce(n_units, 1) as amount,
        steady_sum(change * change) as sum_of_squares,
        -- How many of all attempts fail like this.
        case when metric = 'pass_at_1' then steady_sum(base_loss) / n_units end as base_rate,
        case when metric = 'pass_at_1' then steady_sum(candidate_loss) / n_units end as candidate_rate,
        count(*) filter (where change <> 0 or ledger <> 'failure modes') as n_tasks,
        n_units,
        example_side,
        largest_by(task_id, change) as example_task
    from moves
    where line is not null
    group by base, candidate, metric, policy, ledger, line, n_units, example_side
    having ledger <> 'failure modes' or bool_or(change <> 0)
),
keys as (
    select distinct
        benchmark,
        name as slice_key
    from staging.task_slices
    -- One word of a list divides the tasks in two only.
    where not contains(name, ' has ')
),
-- Every task has a place in every slice, if only among those that name none.
sliced as (
    select
        base,
        candidate,
        metric,
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
        n_base_tasks,
        n_candidate_tasks
    from task_values
    inner join staging.run_pairs as pairs using (base, candidate)
    inner join keys using (benchmark)
    left join staging.task_slices as slices
        on slices.benchmark = keys.benchmark
        and slices.name = keys.slice_key
        and slices.task_id = task_values.task_id
    group by all
),
-- A slice that only one run has gets that run's rate on both sides.
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
        base,
        candidate,
        metric,
        'slices' as ledger,
        slice_key,
        line,
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
all_lines as (
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
    select
        *,
        'funnel' as ledger
    from temp.funnel_effects
),
-- The lines of all five ledgers, before they are rounded: each explains a part of one change.
unrounded as (
    select * replace (
        coalesce(policy, 'dropped') as policy,
        coalesce(slice_key, '') as slice_key,
        coalesce(effect, '') as effect
    )
    from all_lines
),
-- The change that each ledger explains, and what must hold for it to be listed.
lines as (
    select
        lines.*,
        case
            when ledger in ('task mix', 'slices') then 'all tasks'
            when policy = 'dropped' then 'shared tasks'
            else 'shared tasks, missing as failures'
        end as explains,
        case explains
            when 'all tasks' then comparisons.total_change
            when 'shared tasks' then comparisons.delta
            else comparisons.delta_counted_as_fail
        end as total,
        comparisons.ci_new_tasks_low,
        comparisons.ci_new_tasks_high,
        case metric when 'pass_at_1' then 1000 else 10000 end as scale,
        case example_side when 'base' then base else candidate end as example_run
    from temp.ledger_lines as lines
    inner join main.comparisons using (base, candidate, metric)
    -- With nothing missing, to count it as failed changes nothing.
    where
        total is not null
        and (
            policy = 'dropped'
            or (
                comparisons.is_expected_known
                and comparisons.bound_low < comparisons.bound_high
            )
        )
),
numbered as (
    select
        *,
        row_number() over (
            of_ledger
            order by
                line <> 'tasks of both' or ledger <> 'task mix',
                abs(amount) desc,
                line, effect
        ) as line_no,
        -- The change on shared tasks is printed elsewhere too, and rounded as it is there.
        ledger = 'task mix' and line = 'tasks of both' as is_fixed,
        if(is_fixed, round_even(amount * scale, 0), floor(amount * scale)) as whole,
        amount * scale - floor(amount * scale) as remainder,
        -- Halves are rounded to the even number, as Python does.
        round_even(total * scale, 0) as total_whole,
        -- Simpson's: all slices that changed went one way, the whole the other.
        coalesce(
            (total > 0 and max(rate_change) over of_ledger <= 0 and min(rate_change) over of_ledger < 0)
            or (total < 0 and min(rate_change) over of_ledger >= 0 and max(rate_change) over of_ledger > 0),
            false
        ) as is_reversal
    from lines
    window of_ledger as (partition by base, candidate, metric, policy, ledger, slice_key)
),
-- Rounded by largest remainder, so that what is printed adds up to what is printed.
rounded as (
    select
        *,
        total_whole - sum(whole) over of_ledger as n_short,
        row_number() over (of_ledger order by is_fixed, remainder desc, line_no) as raised_no,
        row_number() over (of_ledger order by is_fixed, remainder, -line_no) as lowered_no
    from numbered
    window of_ledger as (partition by base, candidate, metric, policy, ledger, slice_key)
),
-- The first recorded rollout of a compared task that fails in each way.
mode_places as (
    select
        run_id as example_run,
        task_id as example_task,
        mode as line,
        'failure modes' as ledger,
        min(rollout_index) as rollout_index
    from main.rollout_modes
    semi join staging.task_sides using (run_id, task_id)
    semi join staging.rollouts using (run_id, task_id, rollout_index)
    where is_primary
    group by all
)
select
    base,
    candidate,
    metric,
    policy,
    ledger,
    slice_key,
    line_no,
    line,
    effect,
    rounded.amount,
    (whole + case when raised_no <= n_short then 1 when lowered_no <= -n_short then -1 else 0 end) / scale
        as shown,
    base_rate,
    candidate_rate,
    -- The line of shared tasks is the change itself, and has its interval.
    if(is_fixed, ci_new_tasks_low, ci_low) as ci_low,
    if(is_fixed, ci_new_tasks_high, ci_high) as ci_high,
    rounded.n_tasks,
    noise.n_tasks as n_tasks_by_noise,
    -- What noise moves is known of passes, not of rewards.
    case when metric = 'pass_at_1' then noise.amount end as amount_by_noise,
    explains,
    total,
    total_whole / scale as total_shown,
    is_reversal,
    example_task,
    example_run || '/' || example_task || ':' || case
        when ledger = 'failure modes' then places.rollout_index
        when (rounded.amount < 0) = (example_run = candidate) then sides.worst_index
        else sides.best_index
    end as example
from rounded
left join (select *, 'bucket transitions' as ledger from staging.transition_noise) as noise
    using (base, candidate, ledger, line)
left join staging.task_sides as sides
    on sides.run_id = rounded.example_run
    and sides.task_id = rounded.example_task
left join mode_places as places using (example_run, example_task, ledger, line)
