-- What an analysis was made with: this tool, the libraries it counts on, the language.
-- grain: no
with

final as (

    select
        no,
        name,
        version

    from raw.versions

    order by no

)

select * from final
