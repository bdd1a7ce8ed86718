-- Files with lines that could not be used.
-- grain: subject
with

final as (

    select
        path as subject,
        n_rejects || ' of ' || n_lines || ' lines could not be used' as message,
        'blade sql "from rejects where source_file = ' || '''' || replace(path, '''', '''''') || '''"'
            as hint

    from main.artifacts

    where n_rejects > 0

)

select * from final
