-- The headline figures of a run, one column each, with the counts they are made of.
-- grain: run_id
-- kind: table
with runs as (
    select
        *,
        pass_threshold is not null as is_pass_known,
        n_expected is not null as is_expected_known
    from main.runs
),
-- What became of the rollouts of a run: what was expected adds up.
attempt_counts as (
    select
        run_id,
        count(*) filter (where is_expected) as n_expected,
        count(*) filter (where is_recorded) as n_recorded,
        count(*) filter (where is_recorded and not is_expected) as n_unexpected,
        count(*) filter (where is_scored) as n_scored,
        count(*) filter (where is_scored and is_expected) as n_expected_scored,
        count(*) filter (where is_pass) as n_passed,
        count(*) filter (where abs(reward) > 1e-9 and abs(reward - 1) > 1e-9) as n_graded,
        count(*) filter (where outcome = 'unscored') as n_unscored,
        count(*) filter (where outcome = 'failed attempt') as n_failed_attempts,
        count(*) filter (where outcome = 'missing') as n_missing
    from staging.attempts
    group by all
),
estimates as (
    select
        estimates.*,
        task_totals.k as usual_k
    from main.estimates
    inner join staging.task_totals using (run_id)
),
-- The estimates a headline needs, a column each: pass@1, pass^k at the usual k, the mean reward.
headline_estimates as (
    select
        run_id,
        max(value) filter (where metric = 'pass_at' and k = 1) as pass_at_1,
        max(se_new_tasks) filter (where metric = 'pass_at' and k = 1) as pass_at_1_se_new_tasks,
        max(ci_new_tasks_low) filter (where metric = 'pass_at' and k = 1) as pass_at_1_ci_new_tasks_low,
        max(ci_new_tasks_high) filter (where metric = 'pass_at' and k = 1) as pass_at_1_ci_new_tasks_high,
        max(se_same_tasks) filter (where metric = 'pass_at' and k = 1) as pass_at_1_se_same_tasks,
        max(ci_same_tasks_low) filter (where metric = 'pass_at' and k = 1) as pass_at_1_ci_same_tasks_low,
        max(ci_same_tasks_high) filter (where metric = 'pass_at' and k = 1) as pass_at_1_ci_same_tasks_high,
        max(value) filter (where metric = 'pass_at' and k = usual_k) as pass_at_k_unbiased,
        max(value) filter (where metric = 'pass_hat' and k = usual_k) as pass_hat_k,
        max(value) filter (where metric = 'mean_reward') as mean_reward,
        max(se_new_tasks) filter (where metric = 'mean_reward') as mean_reward_se_new_tasks,
        max(ci_new_tasks_low) filter (where metric = 'mean_reward') as mean_reward_ci_new_tasks_low,
        max(ci_new_tasks_high) filter (where metric = 'mean_reward') as mean_reward_ci_new_tasks_high
    from estimates
    group by run_id
),
inferred as (
    select
        run_id,
        count(*) as n_tasks
    from main.expected
    where source = 'inferred'
    group by all
),
counted as (
    select
        run_id,
        max(n_tasks) filter (where bucket = 'always') as n_always,
        max(n_tasks) filter (where bucket = 'sometimes') as n_sometimes,
        max(n_tasks) filter (where bucket = 'never') as n_never,
        max(n_tasks) filter (where bucket = 'missing') as n_missing
    from main.bucket_counts
    group by all
),
-- Tasks of a run by bucket, a column each, and those it lacks by inference.
run_buckets as (
    select
        counted.*,
        coalesce(inferred.n_tasks, 0) as n_inferred
    from counted
    left join inferred using (run_id)
),
-- One repeat shows nothing of its own sampling.
repeated as (
    select *
    from staging.task_values
    where slice_key = '' and metric = 'pass_at' and k = 1 and n_scored > 1
),
levels as (
    select
        run_id,
        sum(n_tasks) as n_tasks,
        sorted_sum(n_tasks * value) / sum(n_tasks) as value,
        sorted_sum(n_tasks * sampling_variance) / sum(n_tasks) as sampling_variance,
        sorted_sum(n_tasks * n_scored * sampling_variance) / sum(n_tasks) as within_variance
    from repeated
    group by all
),
spread as (
    select
        repeated.run_id,
        sorted_sum(repeated.n_tasks * square(repeated.value - levels.value))
            / nullif(min(levels.n_tasks) - 1, 0) as variance
    from repeated
    inner join levels using (run_id)
    group by repeated.run_id
),
-- How much of the spread of pass rates is between tasks, and how much a task's own sampling.
variance_split as (
    select
        levels.run_id,
        levels.within_variance,
        case
            when spread.variance is not null
                then greatest(spread.variance - levels.sampling_variance, 0)
        end as between_variance,
        -- What twice the tasks, or twice the repeats, would leave of the error for new tasks; where
        -- tasks are grouped it is the groups that count, and neither says it. All of the spread may
        -- be sampling, never more.
        case
            when settings.group_path is null then sqrt(spread.variance / (2 * levels.n_tasks))
        end as se_with_twice_the_tasks,
        case
            when settings.group_path is null and spread.variance is not null then sqrt(
                greatest(spread.variance - levels.sampling_variance / 2, spread.variance / 2)
                / levels.n_tasks
            )
        end as se_with_twice_the_repeats
    from levels
    inner join spread using (run_id)
    cross join raw.settings
)
select
    runs.run_id,
    runs.benchmark,
    runs.model,
    coalesce(totals.n_tasks, 0) as n_tasks,
    coalesce(totals.n_scored_tasks, 0) as n_scored_tasks,
    coalesce(totals.n_partial_tasks, 0) as n_partial_tasks,
    buckets.n_inferred as n_inferred_missing_tasks,
    buckets.n_always as n_always_tasks,
    buckets.n_sometimes as n_sometimes_tasks,
    buckets.n_never as n_never_tasks,
    buckets.n_missing as n_missing_tasks,
    coalesce(attempts.n_recorded, 0) as n_rollouts,
    runs.n_expected,
    case when runs.is_expected_known then coalesce(attempts.n_unexpected, 0) end as n_unexpected,
    case when runs.is_expected_known then coalesce(attempts.n_expected_scored, 0) end
        as n_expected_scored,
    coalesce(attempts.n_scored, 0) as n_scored,
    coalesce(attempts.n_unscored, 0) as n_unscored,
    case when runs.is_expected_known then coalesce(attempts.n_failed_attempts, 0) end
        as n_failed_attempts,
    case when runs.is_expected_known then coalesce(attempts.n_missing, 0) end as n_missing,
    case when runs.is_pass_known then coalesce(attempts.n_passed, 0) end as n_passed,
    case when runs.is_pass_known then coalesce(attempts.n_scored - attempts.n_passed, 0) end
        as n_failed,
    runs.pass_threshold,
    totals.k,
    totals.k_min,
    totals.k_max,
    estimates.pass_at_1,
    estimates.pass_at_1_se_new_tasks,
    estimates.pass_at_1_ci_new_tasks_low,
    estimates.pass_at_1_ci_new_tasks_high,
    estimates.pass_at_1_se_same_tasks,
    estimates.pass_at_1_ci_same_tasks_low,
    estimates.pass_at_1_ci_same_tasks_high,
    case when runs.is_pass_known then attempts.n_passed / nullif(attempts.n_scored, 0) end
        as rollout_pass_rate,
    case when runs.is_pass_known then totals.n_passed_tasks / nullif(totals.n_scored_tasks, 0) end
        as pass_at_k,
    estimates.pass_at_k_unbiased,
    estimates.pass_hat_k,
    estimates.mean_reward,
    estimates.mean_reward_se_new_tasks,
    estimates.mean_reward_ci_new_tasks_low,
    estimates.mean_reward_ci_new_tasks_high,
    coalesce(attempts.n_graded, 0) > 0 as is_graded,
    totals.min_reward,
    totals.max_reward,
    case
        when not runs.is_pass_known or totals.most_repeats < 2 then null
        when runs.is_expected_known
            then totals.n_consistent_tasks / nullif(totals.n_expected_tasks, 0)
        else totals.n_consistent_tasks / nullif(totals.n_tasks, 0)
    end as consistency,
    case when runs.is_expected_known then attempts.n_expected_scored / runs.n_expected end as coverage,
    case
        when runs.is_pass_known and totals.k_max > 1
            then totals.n_passed_tasks / nullif(totals.n_scored_tasks, 0) - estimates.pass_at_1
    end as retry_value,
    variances.within_variance,
    variances.between_variance,
    variances.se_with_twice_the_tasks,
    variances.se_with_twice_the_repeats
from runs
left join staging.task_totals as totals using (run_id)
left join attempt_counts as attempts using (run_id)
left join run_buckets as buckets using (run_id)
left join headline_estimates as estimates using (run_id)
left join variance_split as variances using (run_id)
