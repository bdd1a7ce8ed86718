-- What the trend of each task along a series is computed from: counts in order, and sums by place.
-- grain: series, task_id
-- kind: table
with outcomes as (
    select *
    from staging.series_outcomes
    where is_common and n_passed is not null
)
select
    series,
    task_id,
    values_by(pass_rate, place) as rates,
    values_by(n_scored, place) as n_scored,
    values_by(n_passed, place) as n_passed,
    max(n_scored) filter (where is_first) as n_first,
    max(n_passed) filter (where is_first) as n_first_passed,
    max(n_scored) filter (where is_last) as n_last,
    max(n_passed) filter (where is_last) as n_last_passed,
    cast(sum(n_scored) as bigint) as n_all,
    cast(sum(n_passed) as bigint) as n_all_passed,
    cast(sum(n_scored * place) as bigint) as sum_places,
    cast(sum(n_scored * square(place)) as bigint) as sum_square_places,
    cast(sum(n_passed * place) as bigint) as sum_passed_places
from outcomes
group by all
