-- Labels that were refused: the first of each file, with the reason. Corrected ones are not told.
-- grain: subject
with

refused as (

    select
        rejects.source_file,
        rejects.source_line,
        rejects.reason,
        row_number() over (partition by rejects.source_file order by rejects.source_line) as number

    from main.rejects as rejects

    inner join main.artifacts as artifacts on artifacts.path = rejects.source_file

    where artifacts.kind = 'labels' and not starts_with(rejects.reason, 'superseded by ')

),

final as (

    select
        source_file || ':' || source_line as subject,
        'label refused: ' || reason as message,
        '' as hint

    from refused

    where number <= 10

)

select * from final
