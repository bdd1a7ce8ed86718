-- The headline figures of a run, one column each, with the counts they are made of.
-- grain: run_id
-- looks at: run
-- kind: table
-- computed by: pipeline.analysis.standings.standings from ranked_tasks
-- columns: run_id, n_ranked_tasks, rank_low, rank_high, p_best, n_reruns, rerun_sd, rerun_se
with outcomes as (
    select
        outcomes.*,
        tasks.task_group,
        -- By rewards, where some is more than a pass or a failure, or nothing says what passes.
        bool_or(pass_rate is null or abs(mean_reward - pass_rate) > 1e-9)
            over (partition by benchmark) as is_by_reward
    from main.task_outcomes as outcomes
    inner join staging.run_tasks as tasks using (run_id, task_id)
    -- Different questions under one id are different tasks.
    where
        outcomes.n_scored > 0
        and tasks.question is null
        and run_id in (select run_id from main.runs where n_passes_without_rows is null)
    qualify min(run_id) over (partition by benchmark) < max(run_id) over (partition by benchmark)
),
-- Runs that differ in nothing that is recorded of them; a model that nothing names may be any.
alike as (
    select
        run_id,
        [
            benchmark, model, checkpoint, agent, pass_threshold::varchar, sampling::varchar,
            limits::varchar, skills_hash
        ]::varchar as settings
    from main.runs
    where model is not null and n_scored > 0
    qualify count(*) over (partition by settings) > 1
),
prompts as (
    select
        run_id,
        string_agg(distinct md5(system_prompt), ' ' order by md5(system_prompt)) as prompts
    from main.task_prompts
    semi join alike using (run_id)
    group by all
),
-- The tasks of each run by which runs of a benchmark are ranked.
ranked_tasks as (
    select
        outcomes.benchmark,
        run_id,
        md5(alike.settings || coalesce(prompts.prompts, '')) as settings,
        outcomes.task_id,
        outcomes.task_group,
        outcomes.n_scored,
        if(is_by_reward, mean_reward, pass_rate) as value,
        if(
            is_by_reward,
            reward_std * reward_std / n_scored,
            pass_rate * (1 - pass_rate) / nullif(n_scored - 1, 0)
        ) as sampling_variance
    from outcomes
    left join alike using (run_id)
    left join prompts using (run_id)
    order by benchmark, run_id, task_id
),
-- What became of the rollouts of a run: what was expected adds up.
attempts as (
    select
        run_id,
        count(*) filter (is_recorded) as n_recorded,
        count(*) filter (is_recorded and not is_expected) as n_unexpected,
        count(*) filter (is_scored) as n_scored,
        count(*) filter (is_scored and is_expected) as n_expected_scored,
        count(*) filter (is_pass) as n_passed,
        count(*) filter (is_partial_reward(reward)) as n_graded,
        count(*) filter (outcome = 'unscored') as n_unscored,
        count(*) filter (outcome = 'failed attempt') as n_failed_attempts,
        count(*) filter (outcome = 'missing') as n_missing
    from staging.attempts
    group by all
),
-- By the number of scored repeats first: the one that most tasks have is the usual k.
repeats as (
    select
        run_id,
        n_scored,
        count(*) as n_tasks,
        count(*) filter (n_passed > 0) as n_passed_tasks,
        count(*) filter (is_partial) as n_partial_tasks,
        count(*) filter (is_consistent) as n_consistent_tasks,
        count(*) filter (n_expected > 0) as n_expected_tasks,
        count(*) filter (bucket = 'always') as n_always,
        count(*) filter (bucket = 'sometimes') as n_sometimes,
        count(*) filter (bucket = 'never') as n_never,
        greatest(max(n_rollouts), coalesce(max(n_expected), 0)) as most_repeats,
        min(min_reward) as min_reward,
        max(max_reward) as max_reward
    from main.task_outcomes
    group by all
),
tasks as (
    select
        run_id,
        cast(sum(n_tasks) as bigint) as n_tasks,
        cast(coalesce(sum(n_tasks) filter (n_scored > 0), 0) as bigint) as n_scored_tasks,
        cast(coalesce(sum(n_tasks) filter (n_scored = 0), 0) as bigint) as n_missing,
        cast(sum(columns('^n_(passed|partial|consistent|expected)_tasks$|^n_(always|sometimes|never)$')) as bigint),
        max(most_repeats) as most_repeats,
        min(n_scored) filter (n_scored > 0) as k_min,
        max(n_scored) filter (n_scored > 0) as k_max,
        arg_max(n_scored, (n_tasks, n_scored)) filter (n_scored > 0) as k,
        min(min_reward) as min_reward,
        max(max_reward) as max_reward
    from repeats
    group by all
),
inferred as (
    select
        run_id,
        count(*) as n_tasks
    from main.expected
    where source = 'inferred'
    group by all
),
-- pass@1, pass^k at the usual k, the mean reward: each with its errors.
figures as (
    select
        run_id,
        any_value(estimates) filter (metric = 'pass_at' and estimates.k = 1) as first_try,
        any_value(value) filter (metric = 'pass_at' and estimates.k = tasks.k) as pass_at_k,
        any_value(value) filter (metric = 'pass_hat' and estimates.k = tasks.k) as pass_hat_k,
        any_value(estimates) filter (metric = 'mean_reward') as reward
    from main.estimates
    inner join tasks using (run_id)
    group by all
),
-- pass@1 of the tasks that pass@k at the usual k is over: trying again never costs.
retried as (
    select
        run_id,
        sorted_sum(rates.n_tasks * rates.value) / sum(rates.n_tasks) as pass_at_1
    from staging.task_values as rates
    inner join tasks using (run_id)
    where
        rates.slice_key = '' and rates.metric = 'pass_at' and rates.k = 1
        and rates.n_scored >= tasks.k and tasks.k > 1
    group by all
),
-- One repeat shows nothing of its own sampling.
repeated as (
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
-- How much of the spread of pass rates is between tasks, and how much a task's own sampling.
variances as (
    select
        levels.*,
        sorted_sum(
            repeated.n_tasks * ((repeated.value - levels.value) * (repeated.value - levels.value))
        ) / nullif(min(levels.n_tasks) - 1, 0) as variance
    from levels
    inner join repeated using (run_id)
    group by all
),
-- The same first try without the rollouts that the harness masks: where some are, how far they may
-- have moved it.
unmasked as (
    select
        run_id,
        cast(sum(n_masked) as bigint) as n_masked,
        sorted_sum(n_passed / nullif(n_scored, 0))
            / nullif(count(*) filter (n_scored > 0), 0) as pass_at_1
    from (
        select
            run_id,
            task_id,
            count(*) filter (is_masked and is_scored) as n_masked,
            count(*) filter (is_scored and not coalesce(is_masked, false)) as n_scored,
            count(*) filter (is_pass and not coalesce(is_masked, false)) as n_passed
        from staging.rollouts
        group by all
    )
    group by all
    having sum(n_masked) > 0
),
-- What all recorded rollouts took whose tokens, or whose cost, are known, and their passes.
taken as (
    select
        run_id,
        sum(input_tokens) as input_tokens,
        sum(output_tokens) as output_tokens,
        coalesce(sum(input_tokens), 0) + coalesce(sum(output_tokens), 0) as tokens,
        count(coalesce(input_tokens, output_tokens)) as n_with_tokens,
        count(coalesce(input_tokens, output_tokens)) filter (is_pass) as n_passed_with_tokens,
        sorted_sum(cost) as cost,
        count(cost) as n_with_cost,
        count(cost) filter (is_pass) as n_passed_with_cost
    from staging.rollouts
    group by all
),
-- Where no row says its cost, what the model's tokens cost by the profile.
costs as (
    select
        taken.n_with_cost = 0 and prices.model is not null as is_priced,
        taken.* replace (
            if(is_priced, n_with_tokens, n_with_cost) as n_with_cost,
            if(is_priced, n_passed_with_tokens, n_passed_with_cost) as n_passed_with_cost,
            if(
                is_priced,
                (coalesce(input_tokens * input_price, 0) + coalesce(output_tokens * output_price, 0)) / 1e6,
                cost
            ) as cost
        ),
        runs.benchmark
    from taken
    inner join main.runs using (run_id)
    left join raw.prices on prices.model = coalesce(runs.model, runs.run_id)
),
spent as (
    select
        run_id,
        benchmark,
        figures.first_try.value as pass_at_1,
        n_with_tokens,
        tokens / nullif(n_with_tokens, 0) as tokens_per_rollout,
        tokens / nullif(n_passed_with_tokens, 0) as tokens_per_pass,
        n_with_cost,
        cost / nullif(n_with_cost, 0) as cost_per_rollout,
        cost / nullif(n_passed_with_cost, 0) as cost_per_pass,
        -- Of a benchmark whose runs do not all have a cost, tokens are what they have in common.
        if(
            bool_and(cost_per_rollout is not null) over (partition by benchmark),
            cost_per_rollout,
            tokens_per_rollout
        ) as price
    from costs
    left join figures using (run_id)
),
-- No other run is at least as good for less, nor better for as much.
frontier as (
    select
        run_id,
        pass_at_1 > max(pass_at_1) over as_cheap - 1e-9
        and pass_at_1 > coalesce(max(pass_at_1) over cheaper, -1) + 1e-9 as is_on_frontier
    from spent
    where pass_at_1 is not null and price is not null
    window
        as_cheap as (
            partition by benchmark order by price range between unbounded preceding and current row
        ),
        cheaper as (
            partition by benchmark
            order by price
            range between unbounded preceding and current row exclude group
        )
    qualify count(*) over (partition by benchmark) > 1
),
-- Tasks of the run that tell no two runs of the benchmark apart, or tell them the wrong way round.
untelling as (
    select
        run_id,
        if(count(is_dead) > 0, count(*) filter (is_dead), null) as n_dead,
        if(count(is_noisy) > 0, count(*) filter (is_noisy), null) as n_noisy
    from main.task_outcomes
    inner join main.bucket_matrix using (benchmark, task_id)
    group by all
)
select
    runs.run_id,
    runs.benchmark,
    runs.model,
    coalesce(tasks.n_tasks, 0) as n_tasks,
    coalesce(tasks.n_scored_tasks, 0) as n_scored_tasks,
    coalesce(tasks.n_partial_tasks, 0) as n_partial_tasks,
    coalesce(inferred.n_tasks, 0) as n_inferred_missing_tasks,
    case when is_pass_known then coalesce(tasks.n_always, 0) end as n_always_tasks,
    case when is_pass_known then coalesce(tasks.n_sometimes, 0) end as n_sometimes_tasks,
    case when is_pass_known then coalesce(tasks.n_never, 0) end as n_never_tasks,
    coalesce(tasks.n_missing, 0) as n_missing_tasks,
    coalesce(attempts.n_recorded, 0) as n_rollouts,
    runs.n_expected,
    case when is_expected_known then coalesce(attempts.n_unexpected, 0) end as n_unexpected,
    case when is_expected_known then coalesce(attempts.n_expected_scored, 0) end as n_expected_scored,
    coalesce(attempts.n_scored, 0) as n_scored,
    coalesce(attempts.n_unscored, 0) as n_unscored,
    case when is_expected_known then coalesce(attempts.n_failed_attempts, 0) end as n_failed_attempts,
    case when is_expected_known then coalesce(attempts.n_missing, 0) end as n_missing,
    case when is_pass_known then coalesce(attempts.n_passed, 0) end as n_passed,
    case when is_pass_known then coalesce(attempts.n_scored - attempts.n_passed, 0) end as n_failed,
    runs.pass_threshold,
    tasks.k,
    tasks.k_min,
    tasks.k_max,
    first_try.value as pass_at_1,
    first_try.se_new_tasks as pass_at_1_se_new_tasks,
    first_try.ci_new_tasks_low as pass_at_1_ci_new_tasks_low,
    first_try.ci_new_tasks_high as pass_at_1_ci_new_tasks_high,
    first_try.se_same_tasks as pass_at_1_se_same_tasks,
    first_try.ci_same_tasks_low as pass_at_1_ci_same_tasks_low,
    first_try.ci_same_tasks_high as pass_at_1_ci_same_tasks_high,
    runs.n_passes_without_rows,
    coalesce(unmasked.n_masked, 0) as n_masked,
    case when is_pass_known then unmasked.pass_at_1 end as pass_at_1_unmasked,
    case when is_pass_known then attempts.n_passed / nullif(attempts.n_scored, 0) end
        as rollout_pass_rate,
    figures.pass_at_k,
    case when is_pass_known then tasks.n_passed_tasks / nullif(tasks.n_scored_tasks, 0) end
        as any_pass_rate,
    figures.pass_hat_k,
    reward.value as mean_reward,
    reward.se_new_tasks as mean_reward_se_new_tasks,
    reward.ci_new_tasks_low as mean_reward_ci_new_tasks_low,
    reward.ci_new_tasks_high as mean_reward_ci_new_tasks_high,
    coalesce(attempts.n_graded, 0) > 0 as is_graded,
    tasks.min_reward,
    tasks.max_reward,
    -- Probably one figure for a whole batch, which says nothing about a rollout.
    coalesce(
        attempts.n_scored > 1
        and tasks.n_scored_tasks > 1
        and tasks.min_reward = tasks.max_reward
        and is_partial_reward(tasks.min_reward),
        false
    ) as has_constant_reward,
    case
        when not is_pass_known or tasks.most_repeats < 2 then null
        when is_expected_known then tasks.n_consistent_tasks / nullif(tasks.n_expected_tasks, 0)
        else tasks.n_consistent_tasks / nullif(tasks.n_tasks, 0)
    end as consistency,
    case when is_expected_known then attempts.n_expected_scored / runs.n_expected end as coverage,
    difference(figures.pass_at_k, retried.pass_at_1) as retry_value,
    variances.within_variance,
    case
        when variances.variance is not null
            then greatest(variances.variance - variances.sampling_variance, 0)
    end as between_variance,
    -- What twice the tasks, or twice the repeats, would leave of the error for new tasks; where tasks
    -- are grouped it is the groups that count, and neither says it. All of the spread may be
    -- sampling, never more.
    case
        when settings.group_path is null then sqrt(variances.variance / (2 * variances.n_tasks))
    end as se_with_twice_the_tasks,
    case
        when settings.group_path is null and variances.variance is not null then sqrt(
            greatest(variances.variance - variances.sampling_variance / 2, variances.variance / 2)
            / variances.n_tasks
        )
    end as se_with_twice_the_repeats,
    coalesce(spent.n_with_tokens, 0) as n_with_tokens,
    spent.tokens_per_rollout,
    case when is_pass_known then spent.tokens_per_pass end as tokens_per_pass,
    coalesce(spent.n_with_cost, 0) as n_with_cost,
    spent.cost_per_rollout,
    case when is_pass_known then spent.cost_per_pass end as cost_per_pass,
    frontier.is_on_frontier,
    standings.n_ranked_tasks,
    standings.rank_low,
    standings.rank_high,
    standings.p_best,
    standings.n_reruns,
    standings.rerun_sd,
    standings.rerun_se,
    untelling.n_dead as n_dead_tasks,
    untelling.n_noisy as n_noisy_tasks
from (
    select
        *,
        pass_threshold is not null and n_passes_without_rows is null as is_pass_known,
        n_expected is not null as is_expected_known
    from main.runs
) as runs
cross join raw.settings
left join tasks using (run_id)
left join attempts using (run_id)
left join inferred using (run_id)
left join figures using (run_id)
left join retried using (run_id)
left join variances using (run_id)
left join unmasked using (run_id)
left join spent using (run_id)
left join frontier using (run_id)
left join temp.standings using (run_id)
left join untelling using (run_id)
