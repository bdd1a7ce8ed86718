-- The twelve clearest separators of each run, of those that could be tested.
-- grain: run_id, feature
-- needs: main.separators
with
-- How far apart both sides are: of rates their difference, of numbers its share of the larger mean.
sized as (
    select
        *,
        count(*) over (partition by run_id) as n_tested,
        case kind
            when 'binary' then abs(rate_when_passed - rate_when_failed)
            else abs(mean_difference)
                / nullif(greatest(abs(mean_when_passed), abs(mean_when_failed)), 0)
        end as size
    from main.separators
    where p_value is not null
),
ranked as (
    select
        *,
        row_number() over (
            partition by run_id order by q_value, coalesce(size, 0) desc, feature
        ) as rank
    from sized
)
select * from ranked where rank <= 12 order by run_id, rank
