-- Every comparison, by benchmark and pair, the metric that leads first.
-- grain: base, candidate, metric
select *
from main.comparisons
order by benchmark, pair_no, base, candidate, not is_lead
