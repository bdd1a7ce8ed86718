-- One line per failure, from what its record says: all of a benchmark with few, else the first three.
-- grain: run_id, task_id, rollout_index
-- looks at: run
-- needs: main.failure_notes
with failures as (
    select
        run_id,
        task_id,
        rollout_index,
        benchmark,
        count(*) over (partition by benchmark) as n_failures,
        bool_or(is_scored) over (partition by benchmark) as has_grades,
        row_number() over (
            partition by benchmark
            -- First those that no mode covers.
            order by mode <> 'no shared sign', run_id, try_cast(task_id as bigint), task_id, rollout_index
        ) as place
    from main.rollout_modes
    inner join staging.rollouts using (run_id, task_id, rollout_index)
    inner join staging.run_benchmarks using (run_id)
    where is_primary
)
select
    run_id,
    task_id,
    rollout_index,
    any_value(failures.benchmark) as benchmark,
    any_value(n_failures) as n_failures,
    bool_or(has_grades) as has_grades,
    any_value(place) as place,
    run_id || '/' || task_id || ':' || rollout_index as citation,
    list(note order by note_no)[:5] as notes
from failures
inner join main.failure_notes using (run_id, task_id, rollout_index)
where place <= if(n_failures < 10, 10, 3)
group by run_id, task_id, rollout_index
order by benchmark, place
