-- What could be done about a run's failures, ranked by what it could return, with rollouts to open.
-- grain: run_id, intervention
-- kind: table
with

brackets as (

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

citations as (

    select
        run_id,
        intervention,
        values_by(citation, rank) as citations

    from staging.intervention_citations

    where rank <= 5

    group by all

),

final as (

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

)

select * from final
