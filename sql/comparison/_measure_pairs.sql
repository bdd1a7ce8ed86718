-- Every other figure of a task on both sides of a comparison: what it took, and pass@k.
-- grain: base, candidate, task_id, metric
with sizes as (
    select
        pairs.base,
        pairs.candidate,
        least(bases.k, candidates.k) as k
    from staging.run_pairs as pairs
    inner join main.run_metrics as bases
        on bases.run_id = pairs.base
    inner join main.run_metrics as candidates
        on candidates.run_id = pairs.candidate
),
tasks as (
    select
        tasks.*,
        sizes.k
    from main.comparison_tasks as tasks
    inner join sizes using (base, candidate)
    where tasks.is_common and least(tasks.base_n_scored, tasks.candidate_n_scored) >= sizes.k
),
-- pass@k and pass^k of the tasks that two runs share, at the most repeats that both usually have.
pair_curves as (
    select
        tasks.base,
        tasks.candidate,
        tasks.task_id,
        tasks.k,
        1 - subset_share(base_n_scored, base_n_scored - base_n_passed, k) as base_pass_at,
        1 - subset_share(candidate_n_scored, candidate_n_scored - candidate_n_passed, k)
            as candidate_pass_at,
        subset_share(base_n_scored, base_n_passed, k) as base_pass_hat,
        subset_share(candidate_n_scored, candidate_n_passed, k) as candidate_pass_hat
    from tasks
    where tasks.base_n_passed is not null and tasks.candidate_n_passed is not null
),
-- What a compared task took, over its scored rollouts: tokens, turns, calls, seconds.
task_measures as materialized (
    select
        rollouts.run_id,
        rollouts.task_id,
        sum(rollouts.input_tokens) / nullif(count(rollouts.input_tokens), 0) as input_tokens,
        sum(rollouts.output_tokens) / nullif(count(rollouts.output_tokens), 0) as output_tokens,
        sum(rollouts.n_turns) / nullif(count(rollouts.n_turns), 0) as n_turns,
        sum(rollouts.n_tool_calls) / nullif(count(rollouts.n_tool_calls), 0) as n_tool_calls,
        sum(rollouts.n_tool_errors) / nullif(count(rollouts.n_tool_errors), 0) as n_tool_errors,
        sorted_sum(rollouts.duration_s) / nullif(count(rollouts.duration_s), 0) as duration_s
    from staging.rollouts
    inner join staging.task_sides as sides using (run_id, task_id)
    where rollouts.is_scored
    group by rollouts.run_id, rollouts.task_id
),
measured as (
    select
        tasks.base,
        tasks.candidate,
        tasks.task_id,
        cast(null as bigint) as k,
        unnest([
            measure_of('input_tokens', bases.input_tokens, candidates.input_tokens),
            measure_of('output_tokens', bases.output_tokens, candidates.output_tokens),
            measure_of('n_turns', bases.n_turns, candidates.n_turns),
            measure_of('n_tool_calls', bases.n_tool_calls, candidates.n_tool_calls),
            measure_of('n_tool_errors', bases.n_tool_errors, candidates.n_tool_errors),
            measure_of('duration_s', bases.duration_s, candidates.duration_s)
        ]) as measured
    from main.comparison_tasks as tasks
    inner join task_measures as bases
        on bases.run_id = tasks.base
        and bases.task_id = tasks.task_id
    inner join task_measures as candidates
        on candidates.run_id = tasks.candidate
        and candidates.task_id = tasks.task_id
    where tasks.is_common
    union all
    select
        base,
        candidate,
        task_id,
        k,
        unnest([
            measure_of('pass_at_k', base_pass_at, candidate_pass_at),
            measure_of('pass_hat_k', base_pass_hat, candidate_pass_hat)
        ]) as measured
    from pair_curves
    where k > 1
)
select
    base,
    candidate,
    task_id,
    measured.metric,
    k,
    measured.base_value,
    measured.candidate_value
from measured
where measured.base_value is not null and measured.candidate_value is not null
