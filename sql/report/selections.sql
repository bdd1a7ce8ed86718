-- What k attempts are worth beside one, by k; a page prints the same k as of the curve, from 2 on.
-- grain: run_id, k
select
    selections.*,
    curves.is_printed and selections.k > 1 as is_printed
from main.selection_value as selections
inner join report.curves using (run_id, k)
order by selections.run_id, selections.k
