-- Rows whose key another row holds already: rejects that only a whole run can show.
-- grain: record_id
with

final as (

    select
        record_id,
        'duplicate of ' || winner || ' (task ' || task_id || ', rollout ' || rollout_index || ')'
            as reason

    from staging.keys

    where rank > 1 and role in ('rollout', 'input')

)

select * from final
