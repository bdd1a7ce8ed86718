-- Every file that was read, with what became of its lines.
-- grain: path
with

final as (

    select * from main.artifacts order by path

)

select * from final
