-- How sure each change is: intervals, what could have been seen, p-values, a verdict.
-- grain: base, candidate, metric
-- looks at: across
-- kind: step
-- needs: staging.run_pairs
-- computed by: pipeline.analysis.permutation.change_tests from common_tasks
-- columns: base, candidate, metric, p_signs, n_draws, p_any, n_draws_any, mde_by_rule, is_mde_by_rule
-- computed by: pipeline.analysis.intervals.comparison_tests
-- columns: *, ci_new_tasks_low, ci_new_tasks_high, ci_same_tasks_low, ci_same_tasks_high, ci_counted_as_fail_low, ci_counted_as_fail_high, ci_same_counted_as_fail_low, ci_same_counted_as_fail_high, unseen_low, unseen_high, mde_new_tasks, mde_same_tasks, p_mean, p_holm, verdict, verdict_holm, decided_by, could_reverse
with
-- The repeats of each task that both runs scored.
common_tasks as (
    select
        tasks.base,
        tasks.candidate,
        coalesce(bases.task_group, candidates.task_group, tasks.task_id) as task_group,
        tasks.base_n_scored as n_base,
        tasks.candidate_n_scored as n_candidate,
        tasks.base_n_passed as n_base_passed,
        tasks.candidate_n_passed as n_candidate_passed,
        bases.rewards as base_rewards,
        candidates.rewards as candidate_rewards
    from main.comparison_tasks as tasks
    left join staging.task_sides as bases
        on bases.run_id = tasks.base
        and bases.task_id = tasks.task_id
    left join staging.task_sides as candidates
        on candidates.run_id = tasks.candidate
        and candidates.task_id = tasks.task_id
    where tasks.is_common
    order by tasks.base, tasks.candidate, tasks.task_id
),
bases as (
    select
        run_id as base,
        pass_threshold as base_threshold,
        n_expected as n_base_expected
    from main.runs
),
candidates as (
    select
        run_id as candidate,
        runs.pass_threshold as candidate_threshold,
        n_expected as n_candidate_expected,
        benchmarks.lowest,
        benchmarks.highest
    from main.runs
    inner join staging.run_benchmarks as benchmarks using (run_id)
)
select
    *,
    base_threshold is not null and candidate_threshold is not null as is_settled,
    n_base_expected is not null and n_candidate_expected is not null as is_expected_known,
    (select is_growing from raw.settings) as is_growing,
    -- How far apart two tasks can be.
    if(is_bounded, 1, highest - lowest) as value_range,
    -- The metric that decides: passes, or rewards where they are graded or nothing is a pass.
    (metric = 'mean_reward') = (
        coalesce(bool_or(is_graded) over (partition by base, candidate), false) or not is_settled
    ) as is_lead
from staging.comparison_levels
inner join staging.run_pairs using (base, candidate)
inner join bases using (base)
inner join candidates using (candidate)
left join temp.change_tests using (base, candidate, metric)
order by base, candidate, metric
