-- The failure modes of a run by their share: of how many attempts each is the primary one.
-- grain: run_id, mode
-- kind: table
with runs as (
    select run_id from main.runs where pass_threshold is not null
),
counted as (
    select
        run_id,
        mode,
        intervention,
        count(*) as n_rollouts,
        count(*) filter (where is_primary) as n_primary
    from main.rollout_modes
    group by all
)
select
    counted.run_id,
    counted.mode,
    counted.intervention,
    counted.n_rollouts,
    counted.n_primary,
    row_number() over (
        partition by counted.run_id
        order by counted.n_primary desc, counted.n_rollouts desc, counted.mode
    ) as place
from counted
inner join runs using (run_id)
