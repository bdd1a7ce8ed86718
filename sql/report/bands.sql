-- pass@k and pass^k at every k with both uncertainties, for the bands of a curve.
-- grain: run_id, metric, k
select *
from main.estimates
where metric in ('pass_at', 'pass_hat')
order by run_id, metric, k
