-- The mean change of each other figure over the tasks that two runs share, with its error.
-- With tasks that a side lacks, or has too few repeats of, at their least: `possible`.
-- grain: base, candidate, metric
-- looks at: across
-- kind: table
-- needs: staging.run_pairs
-- computed by: pipeline.analysis.intervals.measure_changes
-- columns: *, ci_new_tasks_low, ci_new_tasks_high
with
-- What a compared task took, over its scored rollouts: tokens, turns, calls, seconds.
taken as materialized (
    select
        run_id,
        task_id,
        [
            sum(input_tokens) / nullif(count(input_tokens), 0),
            sum(output_tokens) / nullif(count(output_tokens), 0),
            sum(n_turns) / nullif(count(n_turns), 0),
            sum(n_tool_calls) / nullif(count(n_tool_calls), 0),
            sum(n_tool_errors) / nullif(count(n_tool_errors), 0),
            sorted_sum(duration_s) / nullif(count(duration_s), 0)
        ] as figures
    from staging.rollouts
    semi join staging.task_sides using (run_id, task_id)
    where is_scored
    group by all
),
tasks as (
    select
        tasks.*,
        least(bases.k, candidates.k) as k,
        bases.pass_threshold is not null and candidates.pass_threshold is not null as is_settled
    from main.comparison_tasks as tasks
    inner join main.run_metrics as bases on bases.run_id = tasks.base
    inner join main.run_metrics as candidates on candidates.run_id = tasks.candidate
    where tasks.is_possible
),
-- At the most repeats that both usually have.
rates as (
    select
        base,
        candidate,
        task_id,
        unnest(['pass_at_k', 'pass_hat_k']) as metric,
        k,
        unnest(pass_rates(coalesce(base_n_scored, 0), coalesce(base_n_passed, 0), k)) as of_base,
        unnest(pass_rates(coalesce(candidate_n_scored, 0), coalesce(candidate_n_passed, 0), k))
            as of_candidate
    from tasks
    where k > 1 and is_settled
),
measured as (
    select
        tasks.base,
        tasks.candidate,
        tasks.task_id,
        unnest([
            'input_tokens', 'output_tokens', 'n_turns', 'n_tool_calls', 'n_tool_errors',
            'duration_s'
        ]) as metric,
        cast(null as bigint) as k,
        unnest(bases.figures) as base_value,
        unnest(candidates.figures) as candidate_value
    from tasks
    -- Left, so that it is not joined with itself first: of many runs that is every pair of them.
    left join taken as bases
        on bases.run_id = tasks.base
        and bases.task_id = tasks.task_id
    left join taken as candidates
        on candidates.run_id = tasks.candidate
        and candidates.task_id = tasks.task_id
    where tasks.is_common
),
-- Every other figure of a task on both sides: what it took, and pass@k, with the least and the most that
-- pass@k may be where a side has too few repeats, or lacks the task.
measure_pairs as (
    select
        base,
        candidate,
        task_id,
        metric,
        k,
        of_base.value as base_value,
        of_candidate.value as candidate_value,
        of_base.least as base_least,
        of_base.most as base_most,
        of_candidate.least as candidate_least,
        of_candidate.most as candidate_most
    from rates
    union all by name
    from measured
    where base_value is not null and candidate_value is not null
),
pairs as materialized (
    select
        *,
        candidate_value - base_value as change,
        coalesce(candidate_least - base_least, change) as possible_change,
        coalesce(candidate_least - base_most, change) as least_possible,
        coalesce(candidate_most - base_least, change) as most_possible
    from measure_pairs
),
means as materialized (
    select
        base,
        candidate,
        metric,
        min(k) as k,
        count(change) as n_tasks,
        steady_sum(if(change is null, null, base_value)) / nullif(n_tasks, 0) as base_value,
        steady_sum(if(change is null, null, candidate_value)) / nullif(n_tasks, 0) as candidate_value,
        steady_sum(change) / nullif(n_tasks, 0) as delta,
        count(*) as n_possible_groups,
        steady_sum(possible_change) / n_possible_groups as delta_possible,
        steady_sum(least_possible) / n_possible_groups as possible_low,
        steady_sum(most_possible) / n_possible_groups as possible_high
    from pairs
    group by base, candidate, metric
    having count(change) > 0
),
-- About the mean: of large numbers that vary little, squares would leave nothing but rounding.
deviations as (
    select
        base,
        candidate,
        metric,
        difference(pairs.change, means.delta) as deviation,
        difference(pairs.possible_change, means.delta_possible) as possible_deviation
    from pairs
    inner join means using (base, candidate, metric)
),
spreads as (
    select
        base,
        candidate,
        metric,
        steady_sum(deviation * deviation) as square_sum,
        steady_sum(possible_deviation * possible_deviation) as possible_square_sum
    from deviations
    group by all
)
select
    * exclude (square_sum, possible_square_sum),
    sqrt(square_sum / nullif(n_tasks - 1, 0) / n_tasks) as se_new_tasks,
    sqrt(possible_square_sum / nullif(n_possible_groups - 1, 0) / n_possible_groups) as se_possible,
    n_possible_groups - 1 as possible_degrees,
    -- Nothing bounds what a task takes.
    starts_with(metric, 'pass_') as is_bounded,
    if(is_bounded, 1, null) as value_range
from means
inner join spreads using (base, candidate, metric)
