-- Each entrant at each benchmark of the suite: its score, over which tasks and runs; none where it has none.
-- grain: entrant, benchmark
-- looks at: across
-- kind: table
-- needs: staging.suite_runs
-- computed by: pipeline.analysis.suites.cells
-- columns: *, ci_new_tasks_low, ci_new_tasks_high, shrunken_value
with entrants as (select distinct entrant, entrant_no, is_base from staging.suite_runs where is_entered),
benchmarks as (select distinct benchmark from staging.suite_runs where is_entered),
runs as (
    select
        entered.entrant,
        entered.benchmark,
        count(*) as n_runs,
        list(run_id order by run_id) as run_ids,
        any_value(entered.pooling) as pooling,
        [min(metrics.pass_at_1), max(metrics.pass_at_1)] as pass_rates,
        [min(metrics.mean_reward), max(metrics.mean_reward)] as rewards
    from staging.suite_runs as entered
    inner join main.run_metrics as metrics using (run_id)
    group by all
),
-- Questions that most entrants ask under an id; where they differ some have another version.
questions as (
    select
        benchmark,
        task_id,
        arg_max(question, (n_entrants, question)) as question
    from (
        select
            benchmark,
            task_id,
            question,
            count(*) as n_entrants
        from staging.suite_tasks
        where question is not null
        group by all
    ) as asked
    group by all
),
unions as (
    select
        benchmark,
        count(distinct task_id) as n_benchmark_tasks
    from staging.suite_tasks
    where n_scored > 0
    group by all
),
levels as (
    select
        entrant,
        benchmark,
        any_value(is_by_reward) as is_by_reward,
        any_value(is_bounded) as is_bounded,
        bool_and(is_expected_known) as is_expected_known,
        count(value) as n_tasks,
        cast(sum(n_scored) as bigint) as n_scored,
        cast(sum(n_attempts) as bigint) as n_attempts,
        min(n_scored) filter (where n_scored > 0) as k_min,
        max(n_scored) as k_max,
        count(*) filter (where tasks.question <> questions.question) as n_other_questions,
        sorted_sum(value) / nullif(count(value), 0) as value
    from staging.suite_tasks as tasks
    left join questions using (benchmark, task_id)
    group by entrant, benchmark
),
groups as (
    select
        entrant,
        benchmark,
        levels.n_tasks,
        count(*) as n_own,
        sorted_sum(tasks.value - levels.value) ** 2 as square
    from staging.suite_tasks as tasks
    inner join levels using (entrant, benchmark)
    where tasks.value is not null
    group by entrant, benchmark, coalesce(tasks.task_group, 'task ' || tasks.task_id), levels.n_tasks
),
spreads as (
    select
        entrant,
        benchmark,
        count(*) as n_groups,
        clustered_error(square, n_own, n_tasks) as se_new_tasks,
        clustered_degrees(n_own, 1, n_tasks) as degrees
    from groups
    group by entrant, benchmark, n_tasks
),
cells as (
    select
        entrant,
        benchmark,
        entrant_no,
        is_base,
        coalesce(n_runs, 0) as n_runs,
        coalesce(run_ids, []) as run_ids,
        coalesce(pooling, 'no run') as pooling,
        if(is_by_reward, rewards, pass_rates)[1] as lowest_run_value,
        if(is_by_reward, rewards, pass_rates)[2] as highest_run_value,
        if(is_by_reward, 'mean_reward', 'pass_at_1') as metric,
        coalesce(n_tasks, 0) as n_tasks,
        n_benchmark_tasks,
        coalesce(n_other_questions, 0) as n_other_questions,
        n_scored,
        k_min,
        k_max,
        if(is_expected_known, n_scored / nullif(n_attempts, 0), null) as coverage,
        value,
        coalesce(n_groups, 0) as n_groups,
        se_new_tasks,
        degrees,
        coalesce(is_bounded, true) as is_bounded,
        -- One task has no error, and a scale of its own no place in an average.
        coalesce(is_bounded and n_groups > 1, false) as is_usable,
        2 * count(value) over (partition by entrant) >= count(*) over (partition by entrant) as is_compared
    from entrants
    cross join benchmarks
    left join unions using (benchmark)
    left join runs using (entrant, benchmark)
    left join levels using (entrant, benchmark)
    left join spreads using (entrant, benchmark)
)
select
    * exclude (is_usable),
    -- Benchmarks that every compared entrant has make up the average.
    is_compared and coalesce(
        bool_and(is_usable) filter (where is_compared) over (partition by benchmark), false
    ) as is_counted
from cells
order by entrant_no, benchmark
