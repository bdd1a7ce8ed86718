-- How sure each change is: intervals, what could have been seen, a verdict.
-- grain: base, candidate, metric
-- kind: table
-- needs: staging.run_pairs
select *
from staging.comparison_levels
inner join staging.run_pairs using (base, candidate)
left join staging.change_tests using (base, candidate, metric)
order by base, candidate, metric
