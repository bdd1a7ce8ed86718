-- Why the score changed: five ways to take a change apart, each of which adds up to it.
-- grain: base, candidate, metric, policy, ledger, slice_key, line_no
-- kind: table
-- needs: staging.run_pairs
with
-- The change that each ledger explains, and what must hold for it to be told.
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
        comparisons.ci_new_tasks_low, comparisons.ci_new_tasks_high,
        case metric when 'pass_at_1' then 1000 else 10000 end as scale,
        case example_side when 'base' then base else candidate end as example_run
    from staging.ledger_lines as lines
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
            partition by base, candidate, metric, policy, ledger, slice_key
            order by
                line <> 'tasks of both' or ledger <> 'task mix',
                abs(amount) desc,
                line, effect
        ) as line_no,
        -- The change on shared tasks is printed elsewhere too, and rounded as it is there.
        ledger = 'task mix' and line = 'tasks of both' as is_fixed,
        if(is_fixed, round_even(amount * scale, 0), floor(amount * scale)) as whole,
        amount * scale - floor(amount * scale) as remainder,
        -- Of equal halves the even one: as Python rounds.
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
    base, candidate, metric, policy, ledger, slice_key,
    line_no, line, effect, rounded.amount,
    (whole + case when raised_no <= n_short then 1 when lowered_no <= -n_short then -1 else 0 end) / scale
        as shown,
    base_rate, candidate_rate,
    case when ledger = 'task mix' and line_no = 1 then ci_new_tasks_low else ci_low end as ci_low,
    case when ledger = 'task mix' and line_no = 1 then ci_new_tasks_high else ci_high end
        as ci_high,
    rounded.n_tasks,
    noise.n_tasks as n_tasks_by_noise,
    -- What noise moves is known of passes, not of rewards.
    case when metric = 'pass_at_1' then noise.amount end as amount_by_noise,
    explains, total,
    total_whole / scale as total_shown,
    is_reversal, example_task,
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
