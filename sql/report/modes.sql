-- The ways each run fails, commonest first; those that are primary nowhere are left out.
-- grain: run_id, mode
-- needs: main.failure_modes
with ranked as (
    select
        modes.*,
        row_number() over (
            partition by modes.run_id
            -- What no rule explains is said apart; it names nothing.
            order by modes.mode = 'UNEXPLAINED', modes.n_rollouts desc, modes.mode
        ) as rank
    from main.failure_modes as modes
    where modes.n_rollouts > 0
)
select
    *,
    rank = 1 and mode <> 'UNEXPLAINED' as is_dominant,
    mode = 'UNEXPLAINED' as is_unexplained
from ranked
order by run_id, rank
