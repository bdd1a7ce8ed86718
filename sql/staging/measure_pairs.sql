-- Every other figure of a task on both sides of a comparison: what it took, and pass@k.
-- grain: base, candidate, task_id, metric
with

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

    inner join staging.task_measures as bases
        on bases.run_id = tasks.base
        and bases.task_id = tasks.task_id

    inner join staging.task_measures as candidates
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

    from staging.pair_curves

    where k > 1

),

final as (

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

)

select * from final
