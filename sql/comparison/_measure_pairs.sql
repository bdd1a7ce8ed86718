-- Every other figure of a task on both sides of a comparison: what it took, and pass@k.
-- With the least and the most that pass@k may be where a side has too few repeats, or lacks the task.
-- grain: base, candidate, task_id, metric
-- needs: staging.run_pairs
with
-- What a compared task took, over its scored rollouts: tokens, turns, calls, seconds.
taken as materialized (
    select
        run_id, task_id,
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
        base, candidate, task_id,
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
        tasks.base, tasks.candidate, tasks.task_id,
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
)
select
    base, candidate, task_id, metric, k,
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
