-- Each two entrants at each benchmark and over the suite: the paired change, how sure it is.
-- Scope `suite` is over the benchmarks that both have, `common` over those that all compared ones have.
-- grain: base, candidate, scope, benchmark
-- looks at: across
-- kind: table
-- needs: staging.suite_runs
-- computed by: pipeline.analysis.suites.comparisons
-- columns: base, candidate, base_no, candidate_no, scope, benchmark, is_named, is_shown, n_benchmarks, n_tasks, n_base_only, n_candidate_only, n_other_questions, base_value, candidate_value, delta, se_new_tasks, ci_new_tasks_low, ci_new_tasks_high, bound_low, bound_high, unseen_low, unseen_high, p_value, test, n_draws, p_holm, p_rank, verdict, is_decisive
with entrants as (
    select distinct
        entrant,
        entrant_no,
        is_base,
        n_own_benchmarks
    from staging.suite_runs
    where is_entered
),
-- Those that all others are compared with: of very many the baselines, else the first with most benchmarks.
paired as (
    select
        entrant,
        count(*) over () <= most_paired_entrants()
            or is_base
            or not bool_or(is_base) over ()
            and row_number() over (order by n_own_benchmarks desc, entrant_no) = 1 as is_with_all
    from entrants
)
select
    tasks.*,
    cells.is_counted,
    paired.is_with_all,
    (select is_growing from raw.settings) as is_growing
from staging.suite_tasks as tasks
inner join main.suite_cells as cells using (entrant, benchmark)
inner join paired using (entrant)
order by tasks.benchmark, tasks.entrant_no, tasks.task_id
