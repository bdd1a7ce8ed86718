-- How each task fared in each run, one mark per repeat, with what it may be filtered by.
-- grain: benchmark, task_id, run_id
-- looks at: run
-- kind: table
with outcomes as (
    select
        *,
        dense_rank() over (partition by benchmark order by run_id) as run_no
    from main.task_outcomes
),
-- From what has no score and what no run solves to what every run does.
tasks as (
    select
        benchmark,
        task_id,
        row_number() over (
            partition by benchmark
            order by
                sum(n_passed) / nullif(sum(n_scored), 0) nulls first,
                sorted_sum(mean_reward),
                try_cast(task_id as bigint),
                task_id
        ) as task_no,
        count(*) over (partition by benchmark) as n_tasks,
        max(max(run_no)) over (partition by benchmark) as n_runs
    from outcomes
    group by benchmark, task_id
),
-- A page has room for so many runs, and for so many cells: those that always pass go first.
shown as materialized (
    select *
    from outcomes
    inner join tasks using (benchmark, task_id)
    where run_no <= 12 and task_no * least(n_runs, 12) <= 12000
),
-- p passed, f failed, r has a reward while what passes is not settled, u has none, m is missing.
marked as (
    select
        run_id,
        task_id,
        count(*) as n_attempts,
        string_agg(
            case
                when is_pass then 'p'
                when is_scored and is_pass is not null then 'f'
                when is_scored then 'r'
                when is_recorded then 'u'
                else 'm'
            end,
            ''
            order by rollout_index
        ) as marks
    from staging.attempts
    semi join shown using (run_id, task_id)
    group by all
),
-- How its attempts failed, the most frequent first.
modes as (
    select
        run_id,
        task_id,
        list(mode order by n_rollouts desc, mode)[:4] as modes
    from (
        select
            run_id,
            task_id,
            mode,
            count(*) as n_rollouts
        from main.rollout_modes
        semi join shown using (run_id, task_id)
        where is_primary
        group by all
    )
    group by all
),
-- A lone check that agrees with every verdict only says it again, as does the score that the reward is.
failed_checks as (
    select
        run_id,
        task_id,
        list(check_name order by n_rollouts desc, check_name)[:8] as checks
    from (
        select
            run_id,
            task_id,
            check_name,
            count(*) as n_rollouts
        from main.checks
        inner join shown using (run_id, task_id)
        left join staging.score_checks as same
            on same.benchmark = shown.benchmark
            and same.name = check_sign(source, check_name)
        where not is_passed and same.name is null
        group by all
    )
    group by all
)
select
    shown.benchmark,
    shown.task_id,
    shown.run_id,
    task_no,
    n_tasks,
    shown.bucket,
    shown.n_scored,
    shown.n_passed,
    shown.pass_rate,
    shown.mean_reward,
    marked.n_attempts,
    left(marked.marks, 40) as marks,
    modes.modes,
    failed_checks.checks,
    asked.slices,
    left(asked.prompt, 600) as prompt
from shown
inner join main.tasks as asked using (benchmark, task_id)
left join marked using (run_id, task_id)
left join modes using (run_id, task_id)
left join failed_checks using (run_id, task_id)
order by shown.benchmark, task_no, shown.run_id
