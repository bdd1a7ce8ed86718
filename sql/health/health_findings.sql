-- What the health checks found: on rollouts, on tasks over their repeats, on whole runs.
-- grain: run_id, scope, task_id, rollout_index, check_id, subject
-- kind: table
with unreadable as (
    select
        run_keys.run_id,
        files.path || ':' || (rejects.record_id % 1099511627776) as subject,
        rejects.reason
    from raw.rejects
    inner join raw.files on files.file_no = rejects.record_id // 1099511627776
    inner join staging.run_keys using (run_name)
    where files.kind in ('rollouts', 'inputs', 'failures')
),
differing as (
    select
        run_id,
        count(*) as n_figures,
        min(metric) as metric
    from main.reported_checks
    where status = 'differs'
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
listed as (
    select
        run_id,
        'model' as name,
        model as value
    from rows_read
    union all
    select
        run_id,
        'temperature' as name,
        cast(temperature as varchar) as value
    from rows_read
    union all
    select
        run_id,
        'top_p' as name,
        cast(top_p as varchar) as value
    from rows_read
    union all
    select
        run_id,
        'max_output_tokens' as name,
        cast(max_output_tokens as varchar) as value
    from rows_read
    union all
    select
        run_id,
        'skills_hash' as name,
        skills_hash as value
    from rows_read
),
-- What should be one thing in a run and is several: its model, its sampling, its skills.
mixed_settings as (
    select
        run_id,
        name,
        count(distinct value) as n_values,
        string_agg(distinct value, ', ' order by value) as all_values
    from listed
    group by all
    having count(distinct value) > 1
),
-- What is wrong with a run as a whole.
run_findings as (
    select
        run_id,
        'record_unreadable' as check_id,
        subject,
        'the line could not be used' as message,
        reason as evidence
    from unreadable
    union all
    select
        run_id,
        'run_stale_failure' as check_id,
        subject,
        case
            when is_overcome then 'a failed attempt at a rollout that was scored all the same'
            else 'a failed attempt at a rollout that was neither expected nor recorded'
        end as message,
        task_id || ':' || rollout_index || coalesce(', ' || failure_class, '') as evidence
    from staging.stale_failures
    union all
    select
        run_id,
        'run_incomplete' as check_id,
        '' as subject,
        'expected rollouts are not scored' as message,
        n_expected_scored || ' of ' || n_expected || ' scored' as evidence
    from main.run_metrics
    where n_expected_scored < n_expected
    union all
    select
        run_id,
        case name when 'model' then 'run_mixed_models' else 'run_mixed_settings' end as check_id,
        name as subject,
        'rollouts of the run have ' || n_values || ' values of ' || name as message,
        all_values as evidence
    from mixed_settings
    union all
    select
        run_id,
        'run_reported_differs' as check_id,
        '' as subject,
        'what the run reported differs from what its rows give' as message,
        'figures: ' || n_figures || ', such as ' || metric as evidence
    from differing
),
found as (
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
    union all
    select
        run_id,
        'task' as scope,
        task_id,
        null as rollout_index,
        check_id,
        '' as subject,
        message,
        evidence
    from staging.task_findings
    union all
    select
        run_id,
        'run' as scope,
        null as task_id,
        null as rollout_index,
        check_id,
        subject,
        message,
        evidence
    from run_findings
)
select
    run_id,
    scope,
    task_id,
    rollout_index,
    check_id,
    subject,
    left(message, 200) as message,
    left(evidence, 200) as evidence
from found
