-- The failures of a benchmark, and of each run, to read in the order of a random draw within modes.
-- grain: scope, run_id, task_id, rollout_index
-- looks at: run
with failures as (
    select
        runs.benchmark,
        unnest(['benchmark', 'run']) as scope,
        unnest(['', run_id]) as subject,
        run_id,
        task_id,
        modes.rollout_index,
        modes.mode,
        -- It stays the same when other rollouts come or go.
        md5(seeds.seed || ' ' || run_id || '/' || task_id || ':' || modes.rollout_index) as draw
    from main.rollout_modes as modes
    inner join main.runs using (run_id)
    inner join staging.reading_seeds as seeds using (benchmark)
    -- Where nothing was recorded there is nothing to read.
    semi join main.rollouts using (run_id, task_id, rollout_index)
    where modes.is_primary
),
stratified as (
    select
        * exclude (mode),
        count(*) over (partition by benchmark, subject) as n_failures,
        if(
            mode = 'no shared sign'
            or 20 * count(*) over (partition by benchmark, subject, mode)
            >= count(*) over (partition by benchmark, subject),
            mode,
            'rare modes'
        ) as stratum
    from failures
),
drawn as (
    select
        *,
        row_number() over (partition by benchmark, subject, stratum order by draw) as draw_no,
        count(*) over (partition by benchmark, subject, stratum) as n_stratum
    from stratified
),
marked as (
    select
        drawn.*,
        labels.run_id is not null as is_read,
        -- A draw counts where all before it are read: else a reader could choose.
        bool_and(labels.run_id is not null) over (
            partition by benchmark, subject, stratum
            order by draw_no rows between unbounded preceding and current row
        ) as is_counted
    from drawn
    left join (
        select distinct
            run_id,
            task_id,
            rollout_index
        from main.rollout_labels
    ) as labels using (run_id, task_id, rollout_index)
)
select
    benchmark,
    scope,
    run_id,
    task_id,
    rollout_index,
    stratum,
    draw_no,
    n_stratum,
    n_failures,
    is_read,
    is_counted,
    count(if(is_counted, 1, null)) over (partition by benchmark, subject, stratum) as n_counted,
    -- Two of each stratum, without which nothing is estimated; then in proportion.
    row_number() over (
        partition by benchmark, subject
        order by if(draw_no <= 2, 0, (draw_no - 0.5) / n_stratum), draw_no, n_stratum desc, stratum
    ) as place
from marked
order by scope, run_id, task_id, rollout_index
