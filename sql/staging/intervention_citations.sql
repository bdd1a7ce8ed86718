-- Rollouts to open for each intervention: of the tasks that gain most, one of each before a second.
-- grain: run_id, intervention, rank
with

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

    inner join staging.attempts as attempts using (run_id, task_id, rollout_index)

    where ranked.task_rank <= 5 and modes.is_primary and attempts.is_recorded

),

final as (

    select
        run_id,
        intervention,
        row_number() over (
            partition by run_id, intervention order by place, task_rank
        ) as rank,
        run_id || '/' || task_id || ':' || rollout_index
            || case when evidence_seq is null then '' else '#' || evidence_seq end as citation

    from rollouts

)

select * from final
