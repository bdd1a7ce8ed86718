-- tallies: scored and passed repeats of each common task of a pair
select
    base_n_scored,
    candidate_n_scored,
    base_n_passed,
    candidate_n_passed
from comparison_tasks
where base = ? and candidate = ? and is_common
    and base_n_passed is not null and candidate_n_passed is not null
order by all;

-- series_runs: the runs of each series, in order
select
    series,
    place,
    run_id,
    step,
    n_tasks,
    pass_at_1,
    mean_reward,
    n_common_tasks,
    common_pass_at_1,
    change,
    common_mean_reward,
    reward_change
from series
order by series, place;

-- series_tasks: the clearest tasks of each kind; a task that is learned and rises is listed once,
-- as learned
with turns as (
    select
        tasks.*,
        first_run_id || '/' || task_id as first_citation,
        last_run_id || '/' || task_id as last_citation,
        case
            when is_learned then 'learned'
            when is_forgotten then 'forgotten'
            when q_value < 0.05 and slope > 0 then 'rising'
            when q_value < 0.05 and slope < 0 then 'falling'
        end as turn,
        row_number() over (
            partition by series, turn
            order by p_value nulls last, abs(last_rate - first_rate) desc, task_id
        ) as place
    from series_tasks as tasks
    inner join series_counts using (series)
)
select
    series,
    turn,
    task_id,
    n_scored,
    n_passed,
    rates,
    slope,
    p_value,
    q_value,
    expected_learned,
    expected_forgotten,
    first_citation,
    last_citation
from turns
where turn is not null and place <= ?
order by series, turn, place;
