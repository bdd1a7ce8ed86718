-- What could be done about a run's failures, ranked by what it could return, with rollouts to open.
-- grain: run_id, intervention
-- needs: main.rollout_modes
with gains as (
    select
        * exclude (name),
        name as intervention
    from staging.mode_gains
    where scope = 'intervention'
),
modes as (
    select
        run_id,
        intervention,
        list(mode order by n_rollouts desc, n_matched desc, mode) as modes
    from main.failure_modes
    where n_rollouts > 0
    group by all
),
tasks as (
    select
        run_id,
        intervention,
        unnest(tasks).task_id as task_id,
        generate_subscripts(tasks, 1) as task_rank
    from gains
),
-- Of the tasks that gain most, one rollout of each before a second.
rollouts as (
    select
        run_id,
        intervention,
        task_rank,
        row_number() over (
            partition by run_id, intervention, task_id
            order by evidence_seq is null, rollout_index
        ) as place,
        run_id || '/' || task_id || ':' || rollout_index || coalesce('#' || evidence_seq, '')
            as citation
    from tasks
    inner join main.rollout_modes using (run_id, intervention, task_id)
    semi join staging.rollout_keys using (run_id, task_id, rollout_index)
    where is_primary
),
citations as (
    select
        run_id,
        intervention,
        min_by(citation, (place, task_rank), 5) as citations
    from rollouts
    group by all
)
select
    run_id,
    intervention,
    row_number() over (
        partition by run_id order by gain_low + gain_high desc, gain_high desc, intervention
    ) as rank,
    modes,
    n_rollouts,
    n_tasks,
    n_unrecorded,
    baseline,
    gain_low,
    gain_high,
    coalesce(citations, []) as citations
from gains
inner join modes using (run_id, intervention)
left join citations using (run_id, intervention)
order by run_id, intervention
