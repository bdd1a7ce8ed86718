-- The tasks that one run of a comparison mostly passes and the other mostly fails.
-- grain: base, candidate, task_id
-- looks at: across
-- needs: staging.run_pairs
with flipped as (
    select
        tasks.*,
        tasks.pass_change as change,
        pairs.pair_no,
        case when tasks.pass_change < 0 then 'lost' else 'gained' end as side
    from main.comparison_tasks as tasks
    inner join staging.run_pairs as pairs using (base, candidate)
    where
        tasks.is_common
        and (2 * tasks.base_n_passed >= tasks.base_n_scored)
        <> (2 * tasks.candidate_n_passed >= tasks.candidate_n_scored)
),
ranked as (
    select
        *,
        count(*) over (partition by base, candidate, side) as n_flips,
        row_number() over (
            partition by base, candidate, side
            order by abs(change) desc, try_cast(task_id as bigint) nulls last, task_id
        ) as place
    from flipped
)
select
    base,
    candidate,
    task_id,
    side,
    -- The first comparisons of all benchmarks come first.
    row_number() over (order by pair_no, benchmark, place, side desc) as flip_no,
    n_flips,
    base_pass_rate,
    candidate_pass_rate,
    change,
    case when side = 'lost' then base else candidate end as passing_run,
    case when side = 'lost' then candidate else base end as failing_run
from ranked
where place <= 12
qualify flip_no <= 300
