-- What to look into first, one per mode over all runs.
-- What makes the score itself wrong, limits and errors of the harness, then modes by the failures that
-- they cover.
-- grain: benchmark, rank
-- kind: table
with modes as (
    select *
    from main.failure_modes
    where run_id is null and parent is null and is_told and reason <> 'behaviour' and n_failures > 0
)
select
    benchmark,
    row_number() over (
        partition by benchmark
        order by
            case when reason = 'ungraded' then 1 when starts_with(look_at, 'harness') and kind <> 'answer' then 2 else 3 end,
            n_failures desc,
            mode
    ) as rank,
    mode,
    look_at,
    n_failures,
    n_failures_observed,
    is_of_some,
    is_graded,
    n_passes,
    n_passes_observed,
    n_tasks,
    citations,
    failing_citations,
    passing_citation,
    -- The count that a rerun should move.
    'fewer than ' || n_failures || ' of ' || n_failures_observed as would_show
from modes
