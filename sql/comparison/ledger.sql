-- Why the score changed: five ways to take a change apart, each of which adds up to it.
-- grain: base, candidate, metric, policy, ledger, slice_key, line_no
-- kind: table
with ledgers (ledger, policy, explains) as (
    values
    ('task mix', 'dropped', 'all tasks'),
    ('bucket transitions', 'dropped', 'shared tasks'),
    ('failure modes', 'dropped', 'shared tasks'),
    ('failure modes', 'counted_as_fail', 'shared tasks, missing as failures'),
    ('funnel', 'dropped', 'shared tasks'),
    ('slices', 'dropped', 'all tasks')
),
-- The change that each ledger explains, and what must hold for it to be told.
ledger_totals as (
    select
        comparisons.base,
        comparisons.candidate,
        comparisons.metric,
        ledgers.policy,
        ledgers.ledger,
        ledgers.explains,
        case ledgers.explains
            when 'all tasks' then comparisons.total_change
            when 'shared tasks' then comparisons.delta
            else comparisons.delta_counted_as_fail
        end as total
    from main.comparisons
    cross join ledgers
    -- With nothing missing, to count it as failed changes nothing.
    where
        ledgers.policy = 'dropped'
        or (
            comparisons.is_expected_known
            and comparisons.bound_low < comparisons.bound_high
        )
),
lines as (
    select
        lines.*,
        totals.explains,
        totals.total,
        case lines.metric when 'pass_at_1' then 1000 else 10000 end as scale,
        case lines.example_side when 'base' then lines.base else lines.candidate end as example_run
    from staging.ledger_lines as lines
    inner join ledger_totals as totals
        using (base, candidate, metric, policy, ledger)
    where totals.total is not null
),
numbered as (
    select
        *,
        row_number() over (
            partition by base, candidate, metric, policy, ledger, slice_key
            order by
                line <> 'tasks of both' or ledger <> 'task mix',
                abs(amount) desc,
                line,
                effect
        ) as line_no,
        amount * scale - floor(amount * scale) as remainder,
        sum(floor(amount * scale)) over of_ledger as n_whole,
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
        row_number() over (
            partition by base, candidate, metric, policy, ledger, slice_key
            order by remainder desc, line_no
        ) <= nearest(total * scale) - n_whole as is_raised
    from numbered
),
-- The first recorded rollout of a compared task that fails in each way.
mode_places as (
    select
        modes.run_id,
        modes.task_id,
        modes.mode,
        min(modes.rollout_index) as rollout_index
    from main.rollout_modes as modes
    inner join staging.task_sides as sides using (run_id, task_id)
    inner join staging.rollouts using (run_id, task_id, rollout_index)
    where modes.is_primary
    group by modes.run_id, modes.task_id, modes.mode
)
select
    rounded.base,
    rounded.candidate,
    rounded.metric,
    rounded.policy,
    rounded.ledger,
    rounded.slice_key,
    rounded.line_no,
    rounded.line,
    rounded.effect,
    rounded.amount,
    (floor(rounded.amount * rounded.scale) + case when rounded.is_raised then 1 else 0 end)
        / rounded.scale as shown,
    case
        when rounded.ledger = 'task mix' and rounded.line_no = 1
            then comparisons.ci_new_tasks_low
        else intervals.ci_low
    end as ci_low,
    case
        when rounded.ledger = 'task mix' and rounded.line_no = 1
            then comparisons.ci_new_tasks_high
        else intervals.ci_high
    end as ci_high,
    rounded.n_tasks,
    noise.n_tasks as n_tasks_by_noise,
    -- What noise moves is known of passes, not of rewards.
    case when rounded.metric = 'pass_at_1' then noise.amount end as amount_by_noise,
    rounded.explains,
    rounded.total,
    nearest(rounded.total * rounded.scale) / rounded.scale as total_shown,
    rounded.is_reversal,
    rounded.example_task,
    rounded.example_run || '/' || rounded.example_task || ':'
        || case
            when rounded.ledger = 'failure modes' then places.rollout_index
            when (rounded.amount < 0) = (rounded.example_run = rounded.candidate)
                then extremes.worst_index
            else extremes.best_index
        end as example
from rounded
inner join main.comparisons using (base, candidate, metric)
left join staging.ledger_intervals as intervals
    using (base, candidate, metric, policy, ledger, slice_key, line, effect)
left join staging.transition_noise as noise
    on noise.base = rounded.base
    and noise.candidate = rounded.candidate
    and noise.line = rounded.line
    and rounded.ledger = 'bucket transitions'
left join staging.task_extremes as extremes
    on extremes.run_id = rounded.example_run
    and extremes.task_id = rounded.example_task
left join mode_places as places
    on places.run_id = rounded.example_run
    and places.task_id = rounded.example_task
    and places.mode = rounded.line
    and rounded.ledger = 'failure modes'
