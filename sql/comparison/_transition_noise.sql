-- How many tasks would change buckets if both runs were one model's.
-- grain: base, candidate, line
-- looks at: across
-- kind: table
-- needs: staging.run_pairs
-- computed by: pipeline.analysis.ledgers.transition_noise
-- columns: base, candidate, line, n_tasks, amount
select
    base,
    candidate,
    base_n_scored as n_base,
    candidate_n_scored as n_candidate,
    base_n_passed + candidate_n_passed as n_passed,
    count(*) as n_tasks
from main.comparison_tasks
where is_common and base_n_passed is not null and candidate_n_passed is not null
group by all
order by all
