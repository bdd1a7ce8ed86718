-- The stages that scored rollouts of both runs of a comparison can reach, in their order.
-- grain: base, candidate, stage_no
with
-- What was scored was recorded, and whether it was expected is no step.
stages as (
    select * from main.funnel where stage not in ('expected', 'recorded')
)
select
    pairs.base,
    pairs.candidate,
    bases.stage_no,
    bases.stage,
    row_number() over (partition by pairs.base, pairs.candidate order by bases.stage_no)
        as step_no
from staging.run_pairs as pairs
inner join stages as bases
    on bases.run_id = pairs.base
inner join stages as candidates
    on candidates.run_id = pairs.candidate
    and candidates.stage_no = bases.stage_no
    and candidates.stage = bases.stage
