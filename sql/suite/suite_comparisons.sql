-- What changes from one entrant to another over the suite (benchmark is null) and at each benchmark.
-- With the baseline where one is named, else between each two; of very many entrants, with one of them alone.
-- grain: base, candidate, benchmark
-- looks at: across
select * exclude (base_no, candidate_no, scope, is_shown, p_rank) replace (nullif(benchmark, '') as benchmark)
from staging.suite_tests
where is_shown and scope <> 'common'
order by base, candidate, benchmark
