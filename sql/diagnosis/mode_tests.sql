-- Whether a sign separates failures from passes of the same tasks of a benchmark.
-- grain: benchmark, sign
-- kind: table
-- needs: staging.signs
with tasks as (
    select
        benchmark, run_id, task_id,
        count(*) as n,
        count(*) filter (where not is_pass) as n_failed
    from staging.rollouts
    inner join staging.run_benchmarks using (run_id)
    where is_pass is not null
    group by all
),
signed as (
    select
        benchmark, run_id, task_id,
        sign, source,
        rule_no is null as is_field,
        is_always, is_description,
        count(*) as n_signed,
        count(*) filter (where not is_pass) as n_signed_failed
    from staging.signs
    inner join staging.rollouts using (run_id, task_id, rollout_index)
    where is_pass is not null
    group by all
),
totals as (
    select benchmark, cast(sum(n - n_failed) as bigint) as n_passes
    from tasks
    group by all
),
-- Tasks with the same counts are one row. Only one with passes and failures, signed and unsigned
-- attempts, can tell.
strata as (
    select
        * exclude (run_id, task_id),
        n_failed between 1 and n - 1 and n_signed between 1 and n - 1 as is_informative,
        count(*) as n_tasks
    from signed
    inner join tasks using (benchmark, run_id, task_id)
    group by all
)
select
    benchmark, sign, source,
    cast(sum(n_tasks * strata.n_signed) as bigint) as n_signed,
    cast(sum(n_tasks * strata.n_signed_failed) as bigint) as n_signed_failed,
    n_passes,
    cast(coalesce(sum(n_tasks * strata.n_signed_failed) filter (where is_informative), 0) as bigint)
        as n_observed,
    is_field,
    -- A reason that no pass has and that ends nothing by itself is the verifier's own.
    bool_or(is_always) as is_always,
    bool_or(coalesce(is_description, false))
        or is_field and not bool_or(is_always) and sum(n_tasks * strata.n_signed) = sum(n_tasks * strata.n_signed_failed)
        as is_description,
    string_agg(
        n || ':' || n_failed || ':' || n_signed || ':' || n_tasks, ' ' order by n, n_failed, n_signed
    ) filter (where is_informative) as strata
from strata
inner join totals using (benchmark)
group by benchmark, sign, source, n_passes, is_field
order by benchmark, sign
