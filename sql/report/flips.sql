-- The most changed tasks of each comparison: a failure of one run beside a pass of the other.
-- grain: base, candidate, task_id
with flips as (
    select
        flips.*,
        pairs.benchmark,
        pairs.pair_no,
        outcomes.base_n_passed,
        outcomes.base_n_scored,
        outcomes.candidate_n_passed,
        outcomes.candidate_n_scored,
        tasks.prompt
    from main.flips
    inner join staging.run_pairs as pairs using (base, candidate)
    inner join main.comparison_tasks as outcomes using (base, candidate, task_id)
    inner join main.tasks
        on tasks.benchmark = pairs.benchmark
        and tasks.task_id = flips.task_id
),
ranked as (
    select
        *,
        row_number() over (
            partition by base, candidate, side
            order by
                abs(change) desc,
                try_cast(task_id as bigint),
                task_id
        ) as rank
    from flips
)
select * from ranked where rank <= 3 order by benchmark, pair_no, side desc, rank
