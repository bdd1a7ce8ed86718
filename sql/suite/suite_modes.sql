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
),
-- Benchmarks in which failures bear the sign of a mode that they do not list: too few of them, or passes too.
bearing as (
    select
        named.mode,
        count(distinct run_benchmarks.benchmark) as n_other_benchmarks
    from (
        select distinct
            mode,
            signs.kind,
            signs.name,
            signs.value
        from staging.modes as signs
        semi join (select mode from modes group by mode having count(*) > 1) as shared using (mode)
        where signs.parent is null
    ) as named
    inner join staging.signs using (kind, name, value)
    inner join staging.run_benchmarks using (run_id)
    inner join staging.attempts using (run_id, task_id, rollout_index)
    semi join benchmarks on benchmarks.benchmark = run_benchmarks.benchmark
    anti join modes as listed on listed.mode = named.mode and listed.benchmark = run_benchmarks.benchmark
    where coalesce(not attempts.is_pass, not attempts.is_scored)
    group by all
)
select
    mode,
    any_value(kind) as kind,
    count(*) as n_benchmarks,
    coalesce(any_value(n_other_benchmarks), 0) as n_other_benchmarks,
    (select count(*) from benchmarks) as n_suite_benchmarks,
    list(benchmark order by share_of_failures desc, benchmark) as benchmarks,
    cast(sum(n_failures) as bigint) as n_failures,
    min(share_of_failures) as lowest_share,
    max(share_of_failures) as highest_share,
    arg_max(example, (share_of_failures, benchmark)) as example
from modes
left join bearing using (mode)
group by mode
having count(*) > 1
order by n_benchmarks desc, n_failures desc, mode
