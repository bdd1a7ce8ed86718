-- The headline figures of a run, one column each, with the counts they are made of.
-- grain: run_id
-- kind: table
with

runs as (

    select
        *,
        pass_threshold is not null as is_pass_known,
        n_expected is not null as is_expected_known

    from main.runs

),

totals as (

    select * from staging.task_totals

),

attempts as (

    select * from staging.attempt_counts

),

estimates as (

    select * from staging.headline_estimates

),

buckets as (

    select * from staging.run_buckets

),

variances as (

    select * from staging.variance_split

),

final as (

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

    left join totals using (run_id)

    left join attempts using (run_id)

    left join buckets using (run_id)

    left join estimates using (run_id)

    left join variances using (run_id)

)

select * from final
