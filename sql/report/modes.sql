-- The modes of a benchmark over all its runs, in their order.
-- grain: benchmark, mode
-- looks at: run
select
    * exclude (run_id, parent)
from main.failure_modes
where run_id is null and parent is null and is_told and n_failures > 0
order by benchmark, rank, mode
