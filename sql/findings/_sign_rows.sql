-- Attempts and signs, for what tests signs.
-- A row for each attempt, and one for each sign with the attempts that have it, each check with those that pass it,
-- and each value of a number with some of its attempts, by which parts of the score are recognised.
-- grain: benchmark, attempt_no, kind, name, value, is_borne
-- looks at: across
-- kind: step
with attempts as (
    select
        benchmark,
        run_id,
        task_id,
        rollout_index,
        reward,
        -- Where what passes is unsettled, nothing that was scored has failed.
        case when is_pass then 'pass' when not is_pass or not is_scored then 'fail' else 'unknown' end as outcome,
        cast(row_number() over (order by benchmark, run_id, task_id, rollout_index) as integer) as attempt_no
    from staging.rollouts
    inner join staging.run_benchmarks using (run_id)
    -- What happened once is tested once.
    where run_id not in (select run_id from staging.copied_runs where run_id <> first_run and kind <> 'other_grades')
),
-- A test that few tasks have is compared within them.
shared_checks as (
    select
        benchmark,
        check_sign(source, check_name) as name
    from main.checks
    inner join staging.run_benchmarks using (run_id)
    group by all
    having count(distinct task_id) >= 5
),
-- Without a pass no other form is known to be accepted, nor, where a check names a fault, an answer to be read.
forms as (
    select
        run_id,
        task_id,
        rollout_index,
        kind,
        name,
        value
    from staging.signs
    inner join staging.run_benchmarks using (run_id)
    where
        kind = 'answer'
        and (
            starts_with(value, 'begins with')
            or value = 'is missing after the last tool call' and (run_id, task_id, rollout_index) in (
                select
                    run_id,
                    task_id,
                    rollout_index
                from main.checks
                where is_counted and not is_passed
            )
        )
        and benchmark not in (select benchmark from attempts where outcome = 'pass')
),
numbers as (
    select
        record_id,
        path as name,
        value
    from staging.entries
    where
        item_no = 0
        and key = ''
        and kind in ('DOUBLE', 'UBIGINT', 'BIGINT')
        and not contains(path, '*')
    union all
    select
        record_id,
        check_sign(source, check_name) as name,
        score::varchar as value
    from main.checks
    inner join staging.rollouts using (run_id, task_id, rollout_index)
    where source = 'reward_components' and score is not null
),
passed_checks as (
    select
        run_id,
        task_id,
        rollout_index,
        'check' as kind,
        check_sign(source, check_name) as name,
        '' as value,
        '' as sign,
        '' as scope
    from main.checks
    inner join staging.run_benchmarks using (run_id)
    where is_passed and (benchmark, check_sign(source, check_name)) in (from shared_checks)
),
recorded as (
    select
        attempts.benchmark,
        attempts.attempt_no,
        kind,
        name,
        value,
        sign,
        scope,
        true as is_borne,
        seq
    from staging.signs
    inner join attempts using (run_id, task_id, rollout_index)
    anti join forms using (run_id, task_id, rollout_index, kind, name, value)
    where
        scope <> 'task'
        and not (kind = 'check' and value = 'fails' and (benchmark, name) not in (from shared_checks))
        -- A grade in words is the verdict, and listed whole.
        and not (kind = 'field' and name = 'grade' and reward is null)
        -- Near misses are counted for themselves.
        and not (kind = 'check' and name = 'one check fails')
    union all by name
    select
        attempts.benchmark,
        attempts.attempt_no,
        passed_checks.* exclude (run_id, task_id, rollout_index),
        false as is_borne
    from passed_checks
    inner join attempts using (run_id, task_id, rollout_index)
    union all by name
    select
        attempts.benchmark,
        attempts.attempt_no,
        'number' as kind,
        bounded_name(numbers.name) as name,
        numbers.value,
        '' as sign,
        '' as scope,
        false as is_borne
    from numbers
    inner join staging.rollouts using (record_id)
    inner join (
        from attempts
        where reward is not null
        qualify row_number() over (partition by benchmark order by attempt_no) <= 2000
    ) as attempts using (run_id, task_id, rollout_index)
    union all by name
    -- Attempts of which calls are expected, though all were made.
    select distinct
        attempts.benchmark,
        attempts.attempt_no,
        'expected' as kind,
        '' as name,
        '' as value,
        '' as sign,
        '' as scope,
        false as is_borne
    from main.expected_calls
    inner join attempts using (run_id, task_id, rollout_index)
)
from attempts
union all by name
select
    benchmark,
    kind,
    name,
    value,
    sign,
    scope,
    is_borne,
    list(attempt_no) as attempts,
    -- Where an attempt first meets it; in the order of the attempts.
    list(seq) filter (kind = 'error') as seqs
from recorded
group by all
