-- The standing of each entrant at each benchmark and over the suite (benchmark is null), with ties.
-- An entrant comes before another only where their paired change shows it, with all pairs allowed for; of very
-- many entrants, not all pairs are compared, and there are no ranks.
-- grain: benchmark, entrant
-- looks at: across
-- kind: table
-- needs: staging.suite_runs
-- computed by: pipeline.analysis.suites.standings
-- columns: *, ci_new_tasks_low, ci_new_tasks_high
with sums as (
    select
        entrant,
        any_value(entrant_no) as entrant_no,
        bool_or(is_compared) as is_compared,
        count(value) as n_cells,
        count(*) as n_suite_benchmarks,
        count(*) filter (where is_counted) as n_benchmarks,
        cast(sum(n_tasks) filter (where is_counted) as bigint) as n_tasks,
        cast(sum(n_groups) filter (where is_counted) as bigint) as n_groups,
        sorted_sum(if(is_counted, value, null)) as total,
        sorted_sum(if(is_counted, se_new_tasks ** 2, null)) as variance,
        sorted_sum(if(is_counted, se_new_tasks ** 4 / degrees, null)) as bend
    from main.suite_cells
    group by entrant
),
levels as (
    select
        '' as benchmark,
        'common' as scope,
        * exclude (total, variance, bend),
        total / nullif(n_benchmarks, 0) as value,
        sqrt(variance) / nullif(n_benchmarks, 0) as se_new_tasks,
        -- Welch's and Satterthwaite's.
        coalesce(variance ** 2 / nullif(bend, 0), n_groups - n_benchmarks) as degrees,
        true as is_bounded
    from sums
    union all by name
    select
        benchmark,
        'benchmark' as scope,
        entrant,
        entrant_no,
        is_compared,
        1 as n_cells,
        1 as n_suite_benchmarks,
        1 as n_benchmarks,
        n_tasks,
        n_groups,
        value,
        se_new_tasks,
        degrees,
        is_bounded
    from main.suite_cells
    where value is not null
),
-- Each pair of entrants with a place, once from the better one's side and once from the worse one's.
shown as (
    select
        scope,
        benchmark,
        unnest([base, candidate]) as entrant,
        unnest([delta > 0, delta < 0]) and p_rank <= 0.05 as is_behind,
        unnest([delta < 0, delta > 0]) and p_rank <= 0.05 as is_ahead
    from staging.suite_tests
    where
        scope <> 'suite'
        and (scope, benchmark, base) in (select (scope, benchmark, entrant) from levels where value is not null)
        and (scope, benchmark, candidate) in (select (scope, benchmark, entrant) from levels where value is not null)
),
counted as (
    select
        scope,
        benchmark,
        entrant,
        count(*) filter (where is_behind) as n_ahead_of_it,
        count(*) filter (where is_ahead) as n_behind_it
    from shown
    group by all
)
select
    nullif(levels.benchmark, '') as benchmark,
    levels.* exclude (benchmark, scope),
    case when value is not null and is_ranked then 1 + coalesce(n_ahead_of_it, 0) end as rank_low,
    case when value is not null and is_ranked then
        count(value) over (partition by levels.benchmark) - coalesce(n_behind_it, 0)
    end as rank_high,
    case when value is not null then
        rank() over (partition by levels.benchmark order by value desc nulls last)
    end as place
from levels
cross join (select count(distinct entrant) <= most_paired_entrants() as is_ranked from main.suite_cells)
left join counted using (scope, benchmark, entrant)
order by levels.benchmark, place nulls last, levels.entrant
