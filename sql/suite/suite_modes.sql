-- Failure modes that several benchmarks of the suite share, each once, with the range of its share.
-- grain: mode
-- looks at: across
with benchmarks as (select distinct benchmark from staging.suite_runs),
modes as (
    select
        mode,
        kind,
        benchmark,
        n_failures,
        share_of_failures,
        citations[1] as example
    from main.failure_modes
    semi join benchmarks using (benchmark)
    where run_id is null and is_told and n_failures > 0
)
select
    mode,
    any_value(kind) as kind,
    count(*) as n_benchmarks,
    (select count(*) from benchmarks) as n_suite_benchmarks,
    list(benchmark order by share_of_failures desc, benchmark) as benchmarks,
    cast(sum(n_failures) as bigint) as n_failures,
    min(share_of_failures) as lowest_share,
    max(share_of_failures) as highest_share,
    arg_max(example, (share_of_failures, benchmark)) as example
from modes
group by mode
having count(*) > 1
order by n_benchmarks desc, n_failures desc, mode
