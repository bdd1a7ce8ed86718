-- Every error message of a run, from its tools, its environment and its failed attempts.
-- grain: run_id, task_id, rollout_index, source, place
-- looks at: run
-- kind: table
-- needs: staging.calls where is_error | raw.events where kind = 'message' and is_error | main.failures where message is not null
with
-- An environment without tools reports its errors to the model in messages.
others as (
    select
        keys.run_id,
        keys.task_id,
        keys.rollout_index,
        'environment' as source,
        seq as place,
        run_id || '/' || task_id || ':' || rollout_index || '#' || seq as citation,
        error_message(words) as words
    from raw.events
    inner join staging.rollout_keys as keys using (record_id)
    where kind = 'message' and is_error
    union all by name
    select
        run_id,
        task_id,
        rollout_index,
        'failed attempt' as source,
        attempt as place,
        -- It may have no rollout to cite.
        source_file || ':' || source_line as citation,
        message as words
    from main.failures
    where failures.message is not null
)
select
    errors.* exclude (excerpt) replace (common_signature(benchmark, signature, excerpt) as signature)
from (
    select
        keys.run_id,
        keys.task_id,
        keys.rollout_index,
        'tool' as source,
        result_seq as place,
        run_id || '/' || task_id || ':' || rollout_index || '#' || result_seq as citation,
        tool,
        message,
        signature,
        excerpt
    from staging.calls
    inner join staging.rollout_keys as keys using (record_id)
    where is_error
    union all by name
    select
        *,
        signature_of(excerpt) as signature
    from (
        select
            * exclude (words),
            left(words, 300) as message,
            error_excerpt(words) as excerpt
        from others
    )
) as errors
inner join staging.run_benchmarks using (run_id)
