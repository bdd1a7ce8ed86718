-- Attempts that were never graded: no reward, or no verdict where other attempts of the run have some.
-- grain: record_id
-- kind: table
with rollouts as (
    select
        record_id,
        run_id,
        task_id,
        benchmark,
        is_scored
    from staging.rollouts
    inner join staging.run_benchmarks using (run_id)
),
-- Fields that hold verdicts: checks, or an object with one that is true or false, 0 or 1.
verdict_fields as (
    select distinct
        benchmark,
        source as path
    from main.checks
    inner join staging.run_benchmarks using (run_id)
    where source not in ('row', 'log', 'reward_components')
    union
    select
        benchmark,
        parent as path
    from staging.entries
    inner join rollouts using (record_id)
    where item_no = 0 and parent <> '' and kind not in ('NULL', 'EMPTY')
    group by benchmark, parent, path
    having count(*) > 1 and bool_and(coalesce(is_verdict(value) is not null, false))
),
fields as (
    select
        rollouts.run_id,
        rollouts.benchmark,
        rollouts.task_id,
        entries.record_id,
        entries.path,
        kind in ('OBJECT', 'ARRAY') as is_filled,
        kind = 'NULL' as is_null
    from staging.entries
    inner join rollouts using (record_id)
    semi join verdict_fields using (benchmark, path)
    where item_no = 0 and key = '' and kind in ('OBJECT', 'ARRAY', 'NULL')
),
-- Most attempts at the benchmark have it, and several of the run.
common as (
    select
        benchmark,
        path
    from fields
    inner join (select benchmark, count(*) as n_all from rollouts group by all) using (benchmark)
    where is_filled
    group by benchmark, path, n_all
    having 2 * count(*) > n_all and count(*) < n_all
),
-- A run that never has it may not record it, unless it says null.
usual as (
    select
        run_id,
        path
    from fields
    semi join common using (benchmark, path)
    group by all
),
-- A null says so itself; what is absent may not be asked of the task, unless another attempt at it has it.
lacking as (
    select
        rollouts.record_id,
        -- A null says more than what is not there.
        arg_min(
            usual.path || if(fields.is_null, ' is null', ' is absent'), (fields.is_null is null, usual.path)
        ) as reason
    from rollouts
    inner join usual using (run_id)
    left join fields
        on fields.record_id = rollouts.record_id
        and fields.path = usual.path
    left join (select distinct benchmark, task_id, path from fields where is_filled) as elsewhere
        on elsewhere.benchmark = rollouts.benchmark
        and elsewhere.task_id = rollouts.task_id
        and elsewhere.path = usual.path
    where
        fields.is_null
        or fields.record_id is null and elsewhere.path is not null and not contains(usual.path, '.')
    group by rollouts.record_id
)
select
    record_id,
    coalesce(lacking.reason, 'reward is not recorded') as reason
from rollouts
left join lacking using (record_id)
where
    lacking.reason is not null
    or not is_scored and benchmark in (select benchmark from rollouts where is_scored)
