-- What changes from one entrant to another over the suite (benchmark is null) and at each benchmark.
-- With the baseline where one is named, else between each two.
-- grain: base, candidate, benchmark
-- looks at: across
select
    base,
    candidate,
    nullif(benchmark, '') as benchmark,
    is_named,
    n_benchmarks,
    n_tasks,
    n_base_only,
    n_candidate_only,
    n_other_questions,
    base_value,
    candidate_value,
    delta,
    se_new_tasks,
    ci_new_tasks_low,
    ci_new_tasks_high,
    bound_low,
    bound_high,
    unseen_low,
    unseen_high,
    p_value,
    test,
    n_draws,
    p_holm,
    verdict,
    is_decisive
from staging.suite_tests
where is_shown and scope <> 'common'
order by base, candidate, benchmark
