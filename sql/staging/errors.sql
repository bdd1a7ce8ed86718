-- Every error message of a run, from its tools, its verifier and its failed attempts.
-- grain: run_id, task_id, rollout_index, source, place
with

verifier as (

    select
        keys.run_id,
        keys.task_id,
        keys.rollout_index,
        coalesce(signs.verifier_error, signs.sandbox_error, signs.verifier_text) as message

    from staging.verifier_signs as signs

    inner join staging.rollout_keys as keys using (record_id)

),

final as (

    select
        run_id,
        task_id,
        rollout_index,
        'tool' as source,
        result_seq as place,
        run_id || '/' || task_id || ':' || rollout_index || '#' || result_seq as citation,
        tool,
        message,
        signature

    from staging.call_errors

    union all

    select
        run_id,
        task_id,
        rollout_index,
        'verifier' as source,
        0 as place,
        run_id || '/' || task_id || ':' || rollout_index as citation,
        null as tool,
        message,
        error_signature(message) as signature

    from verifier

    where message is not null

    union all

    select
        run_id,
        task_id,
        rollout_index,
        'failed attempt' as source,
        attempt as place,
        -- It may have no rollout to cite.
        source_file || ':' || source_line as citation,
        null as tool,
        left(message, 300) as message,
        error_signature(message) as signature

    from main.failures

    where message is not null

)

select * from final
