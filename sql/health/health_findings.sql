-- What the health checks found: on rollouts, on tasks over their repeats, on whole runs.
-- grain: run_id, scope, task_id, rollout_index, check_id, subject
-- looks at: run
-- kind: table
with repeats as (
    select
        run_id,
        task_id,
        count(*) as n_repeats,
        count(*) filter (where health <> 'unobserved') as n_computable,
        count(*) filter (where health = 'unhealthy') as n_unhealthy
    from main.rollout_health
    group by all
),
-- Only where every repeat is fully bound is it known that none succeeded.
bound as (
    select
        keys.run_id,
        keys.task_id,
        count(*) as n_bound,
        sum(trajectories.n_owned) as n_calls,
        sum(trajectories.n_successful) as n_successful
    from staging.trajectories
    inner join staging.rollout_keys as keys using (record_id)
    where trajectories.is_bound
    group by all
),
rows_read as (
    select
        keys.run_id,
        records.model,
        records.temperature,
        records.top_p,
        records.max_output_tokens,
        records.skills_hash,
        count(*) as n_rows
    from staging.rollout_keys as keys
    inner join staging.records using (record_id)
    group by all
),
-- Who always gives the one key of all tasks passes them all, though others give other answers.
constant_keys as (
    select
        run_id,
        key_path,
        any_value(key) as key,
        count(*) as n_rows,
        count(distinct task_id) as n_tasks
    from staging.answers
    inner join staging.rollouts using (record_id)
    group by all
    having
        n_tasks >= 20
        and count(distinct key) = 1
        and count(distinct comparable(answers.answer)) > 1
        -- What no answer ever is, is a text for a judge.
        and 10 * count(*) filter (where comparable(answers.answer) = comparable(answers.key)) >= count(*)
),
-- Fields with one value in all rows of a run, which in another run differ from task to task.
field_ranges as (
    select
        benchmark,
        run_id,
        path,
        count(*) as n_rows,
        count(distinct task_id) as n_tasks,
        min(value) as value,
        min(value) = max(value) as is_constant
    from staging.entries
    inner join staging.rollouts using (record_id)
    inner join staging.run_benchmarks using (run_id)
    where
        item_no = 0
        and key = ''
        and kind not in ('NULL', 'EMPTY', 'OBJECT', 'ARRAY')
        and benchmark in (select benchmark from staging.run_benchmarks group by all having count(*) > 1)
    group by all
    having n_tasks >= 20
),
varied_fields as (
    select
        benchmark,
        path,
        run_id as other_run,
        count(*) as n_other_rows,
        count(distinct value) as n_values
    from staging.entries
    inner join staging.rollouts using (record_id)
    inner join staging.run_benchmarks using (run_id)
    where
        item_no = 0
        and (benchmark, run_id, path) in (select (benchmark, run_id, path) from field_ranges where not is_constant)
        and (benchmark, path) in (select (benchmark, path) from field_ranges where is_constant)
    group by benchmark, path, run_id
    having 2 * count(distinct value) >= count(distinct task_id)
    qualify row_number() over (partition by benchmark, path order by count(distinct value) desc, run_id) = 1
),
all_findings as (
    select
        run_id,
        'rollout' as scope,
        task_id,
        rollout_index,
        check_id,
        subject,
        message,
        evidence
    from staging.rollout_findings
    union all by name
    -- Tasks of which no repeat can be trusted, or no repeat reached the model.
    select
        run_id,
        'task' as scope,
        task_id,
        'task_consistently_unhealthy' as check_id,
        '' as subject,
        'every repeat that can be judged is unhealthy' as message,
        'unhealthy: ' || n_unhealthy || ', repeats: ' || n_repeats as evidence
    from repeats
    where n_computable >= 2 and n_unhealthy = n_computable
    union all by name
    select
        run_id,
        'task' as scope,
        task_id,
        'task_no_successful_model_calls' as check_id,
        '' as subject,
        'no call of the model succeeded in any repeat' as message,
        'calls: ' || bound.n_calls || ', repeats: ' || repeats.n_repeats as evidence
    from repeats
    inner join bound using (run_id, task_id)
    where bound.n_bound = repeats.n_repeats and bound.n_successful = 0
    union all by name
    select
        run_keys.run_id,
        'run' as scope,
        'record_unreadable' as check_id,
        files.path || ':' || (rejects.record_id % 1099511627776) as subject,
        'the line could not be used' as message,
        rejects.reason as evidence
    from raw.rejects
    inner join raw.files on files.file_no = rejects.record_id // 1099511627776
    inner join staging.run_keys using (run_name)
    where files.kind in ('rollouts', 'inputs', 'failures')
    union all by name
    -- Failed attempts that say nothing of this run any more: overcome, or left from another one.
    select
        failures.run_id,
        'run' as scope,
        'run_stale_failure' as check_id,
        failures.source_file || ':' || failures.source_line as subject,
        case
            when attempts.is_scored
                then 'a failed attempt at a rollout that was scored all the same'
            else 'a failed attempt at a rollout that was neither expected nor recorded'
        end as message,
        failures.task_id || ':' || failures.rollout_index
            || coalesce(', ' || failures.failure_class, '') as evidence
    from main.failures
    inner join main.runs using (run_id)
    left join staging.attempts using (run_id, task_id, rollout_index)
    -- Where nothing says what was expected, a failure without a rollout may be of this run.
    where attempts.is_scored or (attempts.run_id is null and runs.n_expected is not null)
    union all by name
    select
        run_id,
        'run' as scope,
        'run_incomplete' as check_id,
        '' as subject,
        'expected rollouts are not scored' as message,
        n_expected_scored || ' of ' || n_expected || ' scored' as evidence
    from main.run_metrics
    where n_expected_scored < n_expected
    union all by name
    select
        run_id,
        'run' as scope,
        'run_log_ended' as check_id,
        -- Beginnings tell errors apart; the evidence has more of it.
        max(value) filter (where name = 'log_status')
            || coalesce(': ' || left(max(value) filter (where name = 'log_error'), 80), '') as subject,
        'the log of the run did not end with success' as message,
        coalesce(max(value) filter (where name = 'log_error'), 'no message is recorded') as evidence
    from staging.run_settings
    where name in ('log_status', 'log_error')
    group by run_id
    having subject is not null
    union all by name
    -- What should be one thing in a run and is several: its model, its sampling, its skills.
    select
        run_id,
        'run' as scope,
        case name when 'model' then 'run_mixed_models' else 'run_mixed_settings' end as check_id,
        name as subject,
        'rollouts of the run have ' || count(distinct value) || ' values of ' || name as message,
        string_agg(distinct value, ', ' order by value) as evidence
    from (
        unpivot (select * exclude (n_rows) replace (
            temperature::varchar as temperature,
            top_p::varchar as top_p,
            max_output_tokens::varchar as max_output_tokens
        ) from rows_read)
        on columns(* exclude (run_id)) into name name value value
    )
    group by run_id, name
    having count(distinct value) > 1
    union all by name
    select
        run_id,
        'run' as scope,
        'run_constant_key' as check_id,
        key_path as subject,
        'all tasks have the same key' as message,
        left(key, 100) || ' in ' || n_rows || ' of ' || n_rows || ' rows, ' || n_tasks || ' tasks' as evidence
    from constant_keys
    union all by name
    select
        run_id,
        'run' as scope,
        'run_constant_field' as check_id,
        path as subject,
        'a field has one value in all rows, and other values in another run' as message,
        left(value, 20) || ' in ' || n_rows || ' rows; ' || n_values || ' values in ' || n_other_rows || ' rows of ' || other_run
            as evidence
    from field_ranges
    inner join varied_fields using (benchmark, path)
    -- Of what did not happen there are none.
    where is_constant and value not in ('0', '0.0', 'false')
    union all by name
    select
        run_id,
        'run' as scope,
        'run_constant_duration' as check_id,
        '' as subject,
        'all rollouts have the same duration, which is no measurement' as message,
        format('{:g} s in {:,} rows', constant_duration_s, count(*)) as evidence
    from staging.rollouts
    where constant_duration_s is not null
    group by run_id, constant_duration_s
    union all by name
    select
        run_id,
        'run' as scope,
        'run_reported_differs' as check_id,
        '' as subject,
        'what the run reported differs from what its rows give' as message,
        'figures: ' || count(*) || ', such as ' || min(metric) as evidence
    from main.reported_checks
    where status = 'differs'
    group by run_id
)
select * replace (left(message, 200) as message, left(evidence, 200) as evidence)
from all_findings
