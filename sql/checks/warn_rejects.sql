-- Files with lines that could not be used.
-- grain: subject
with

final as (

    select
        path as subject,
        n_rejects || ' of ' || n_lines || ' lines could not be used' as message,
        -- A file's name is untrusted, and a hint is made to be pasted into a shell.
        'blade sql "from rejects' || case
            when regexp_matches(path, '^[A-Za-z0-9._/ -]+$')
                then ' where source_file = ' || '''' || path || ''''
            else ''
        end || '"' as hint

    from main.artifacts

    where n_rejects > 0

)

select * from final
