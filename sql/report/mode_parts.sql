-- What a mode is made of: the values of a field that ends attempts, or what one field says of its bearers.
-- grain: benchmark, parent, mode
-- looks at: run
select
    * exclude (run_id)
from main.failure_modes
where run_id is null and parent is not null and n_failures > 0
order by benchmark, parent, n_failures desc, mode
