-- compared: at most ? comparisons, and all that have become worse
from comparisons
where is_lead and delta is not null
qualify
    row_number() over (
        order by not is_named, not is_changed, n_common_tasks desc, benchmark, pair_no
    ) <= ?
    or verdict_holm = 'regressed'
order by not is_named, not is_changed, n_common_tasks desc, benchmark, pair_no;

-- inventory: what was read, by kind of file
select
    kind,
    n_files,
    n_bytes,
    n_lines,
    n_rows,
    n_rejects,
    n_other,
    n_blank
from report.inventory
where benchmark = '' and run_id = '';
