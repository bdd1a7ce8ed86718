-- What compared runs differ in besides their results.
-- grain: base, candidate, setting
with

final as (

    select *

    from main.comparison_settings

    order by base, candidate, setting

)

select * from final
