-- The trend of every task along a series, and what noise alone would make of its ends.
-- grain: series, task_id
-- kind: table
-- needs: staging.series_runs
select
    series, benchmark, task_id,
    list(pass_rate order by place) as rates,
    list(n_scored order by place) as n_scored,
    list(n_passed order by place) as n_passed,
    max(outcomes.n_scored) filter (where is_first) as n_first,
    max(outcomes.n_passed) filter (where is_first) as n_first_passed,
    max(outcomes.n_scored) filter (where is_last) as n_last,
    max(outcomes.n_passed) filter (where is_last) as n_last_passed,
    cast(sum(outcomes.n_scored) as bigint) as n_all,
    cast(sum(outcomes.n_passed) as bigint) as n_all_passed,
    cast(sum(outcomes.n_scored * place) as bigint) as sum_places,
    cast(sum(outcomes.n_scored * place * place) as bigint) as sum_square_places,
    cast(sum(outcomes.n_passed * place) as bigint) as sum_passed_places
from staging.series_outcomes as outcomes
where is_common and outcomes.n_passed is not null
group by all
order by series, task_id
