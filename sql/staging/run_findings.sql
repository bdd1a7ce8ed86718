-- What is wrong with a run as a whole.
-- grain: run_id, check_id, subject
with

unreadable as (

    select
        run_keys.run_id,
        files.path || ':' || (rejects.record_id % 1099511627776) as subject,
        rejects.reason

    from raw.rejects as rejects

    inner join raw.files as files on files.file_no = rejects.record_id // 1099511627776

    inner join staging.run_keys as run_keys using (run_name)

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

final as (

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

    from staging.mixed_settings

    union all

    select
        run_id,
        'run_reported_differs' as check_id,
        '' as subject,
        'what the run reported differs from what its rows give' as message,
        'figures: ' || n_figures || ', such as ' || metric as evidence

    from differing

)

select * from final
