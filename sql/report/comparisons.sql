-- Every comparison, by benchmark and pair, the metric that leads first.
-- grain: base, candidate, metric
with

final as (

    select
        *,
        candidate_value is not null as is_told

    from main.comparisons

    order by benchmark, pair_no, base, candidate, not is_lead

)

select * from final
