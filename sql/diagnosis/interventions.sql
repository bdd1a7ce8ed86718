-- What could be done about a run's failures, ranked by what it could return, with rollouts to open.
-- grain: run_id, intervention
-- kind: table
with brackets as (
    select
        *,
        name as intervention
    from staging.brackets
    where scope = 'intervention'
),
modes as (
    select
        run_id,
        intervention,
        values_by(mode, place) as modes
    from staging.run_modes
    where n_primary > 0
    group by all
),
tasks as (
    select
        run_id,
        name as intervention,
        n_primary / nullif(n_attempts, 0)
            + coalesce(n_primary * n_passed / nullif(n_attempts * (n_attempts - n_primary), 0), 0)
            as gain,
        unnest(task_ids) as task_id
    from staging.mode_tallies
    where scope = 'intervention'
),
ranked as (
    select
        *,
        row_number() over (
            partition by run_id, intervention
            order by gain desc, try_cast(task_id as bigint) nulls last, task_id
        ) as task_rank
    from tasks
),
rollouts as (
    select
        ranked.run_id,
        ranked.intervention,
        ranked.task_id,
        ranked.task_rank,
        modes.rollout_index,
        modes.evidence_seq,
        row_number() over (
            partition by ranked.run_id, ranked.intervention, ranked.task_id
            order by modes.evidence_seq is null, modes.rollout_index
        ) as place
    from ranked
    inner join main.rollout_modes as modes using (run_id, intervention, task_id)
    inner join staging.attempts using (run_id, task_id, rollout_index)
    where ranked.task_rank <= 5 and modes.is_primary and attempts.is_recorded
),
-- Rollouts to open for each intervention: of the tasks that gain most, one of each before a second.
intervention_citations as (
    select
        run_id,
        intervention,
        row_number() over (
            partition by run_id, intervention order by place, task_rank
        ) as rank,
        run_id || '/' || task_id || ':' || rollout_index
            || case when evidence_seq is null then '' else '#' || evidence_seq end as citation
    from rollouts
),
citations as (
    select
        run_id,
        intervention,
        values_by(citation, rank) as citations
    from intervention_citations
    where rank <= 5
    group by all
)
select
    brackets.run_id,
    brackets.intervention,
    row_number() over (
        partition by brackets.run_id
        order by
            brackets.gain_low + brackets.gain_high desc,
            brackets.gain_high desc,
            brackets.intervention
    ) as rank,
    modes.modes,
    brackets.n_rollouts,
    brackets.n_tasks,
    brackets.n_unrecorded,
    brackets.baseline,
    brackets.gain_low,
    brackets.gain_high,
    coalesce(citations.citations, []) as citations
from brackets
inner join modes using (run_id, intervention)
left join citations using (run_id, intervention)
