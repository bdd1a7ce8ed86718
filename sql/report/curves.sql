-- pass@k and its kin by k; a page prints k = 1 to 8, powers of two, and the last.
-- grain: run_id, k
with last as (
    select
        run_id,
        max(k) as k
    from main.pass_curve
    group by all
)
select
    pass_curve.*,
    pass_curve.k <= 8 or pass_curve.k = last.k or pass_curve.k in (16, 32, 64, 128, 256, 512)
        as is_printed
from main.pass_curve
inner join last using (run_id)
order by pass_curve.run_id, pass_curve.k
