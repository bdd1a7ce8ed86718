-- Modes whose failures lie mostly in one slice of the tasks: the clearest of each mode.
-- grain: benchmark, mode
-- looks at: run
select *
from main.mode_slices
where mode <> 'any failure' and share >= 0.6 and lift >= 2 and p_adjusted < 0.05 and n_failures >= 3
qualify row_number() over (
    partition by benchmark, mode order by p_adjusted, share desc, slice_key, slice_value
) = 1
order by benchmark, mode
