-- What could be done about the failures of all runs together, what could return most first.
-- grain: intervention
-- needs: main.interventions
with modes as (
    select
        intervention,
        mode,
        count(*) as n_rollouts
    from main.rollout_modes
    where is_primary and intervention is not null
    group by all
),
lists as (
    select
        intervention,
        list(mode order by n_rollouts desc, mode) as modes
    from modes
    group by all
),
tasks as (
    select
        modes.intervention,
        count(*) as n_rollouts,
        count(distinct (runs.benchmark, modes.task_id)) as n_tasks
    from main.rollout_modes as modes
    inner join main.runs using (run_id)
    where modes.is_primary and modes.intervention is not null
    group by all
),
failures as (
    select
        count(*) as n_failures,
        count(distinct run_id) as n_failing_runs
    from main.rollout_modes
    where is_primary
),
returns as (
    select
        intervention,
        count(*) as n_runs,
        sorted_sum(gain_low + gain_high) as worth,
        arg_min(run_id, (-gain_low - gain_high, -gain_high, run_id)) as most_in,
        arg_min(gain_low, (-gain_low - gain_high, -gain_high, run_id)) as gain_low,
        arg_min(gain_high, (-gain_low - gain_high, -gain_high, run_id)) as gain_high,
        flatten(list(citations[:1] order by gain_low + gain_high desc, run_id))[:3] as citations
    from main.interventions
    group by all
)
select
    returns.intervention,
    row_number() over (order by returns.worth desc, returns.intervention) as rank,
    returns.n_runs,
    failures.n_failing_runs,
    lists.modes,
    tasks.n_rollouts,
    failures.n_failures,
    tasks.n_tasks,
    returns.most_in,
    returns.gain_low,
    returns.gain_high,
    returns.citations
from returns
inner join lists using (intervention)
inner join tasks using (intervention)
cross join failures
order by rank
