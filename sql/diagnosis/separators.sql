-- What passes do that failures of the same tasks do not: each feature with its test.
-- grain: run_id, feature
-- kind: table
-- needs: main.task_outcomes where bucket = 'sometimes'
with
-- A task in which a feature is known on one side only compares nothing. Beyond a million million a
-- number measures nothing.
tasks as materialized (
    select
        run_id, feature, task_id,
        kind,
        count(*) filter (where is_pass) as n_passed,
        count(*) filter (where not is_pass) as n_failed,
        count(*) filter (where is_pass and value > 0) as n_with_passed,
        count(*) filter (where not is_pass and value > 0) as n_with_failed,
        exact_sum(if(is_pass, value, null)) as sum_passed,
        exact_sum(if(is_pass, null, value)) as sum_failed,
        min(value) as lowest,
        max(value) as highest
    from staging.behaviours
    where abs(value) <= 1e12
    group by all
    having n_passed > 0 and n_failed > 0
),
-- How many tasks split a binary feature in one way: of the passes a did it and b did not, of the
-- failures c and d.
tallies as (
    select
        run_id, feature,
        n_passed, n_failed,
        n_with_passed as a,
        n_passed - n_with_passed as b,
        n_with_failed as c,
        n_failed - n_with_failed as d,
        n_passed + n_failed as n,
        n_with_passed + n_with_failed as n_with,
        count(*) as n_tasks
    from tasks
    where kind = 'binary'
    group by all
),
terms as (
    select
        *,
        n_with between 1 and n - 1 as is_informative,
        a * d / nullif(n, 0) as up,
        b * c / nullif(n, 0) as down,
        (a + d) / nullif(n, 0) as agreeing,
        (b + c) / nullif(n, 0) as opposing,
        n_passed / nullif(n, 0) * n_failed / nullif(n, 0) * n_with * (n - n_with) / nullif(n - 1, 0)
            as null_variance
    from tallies
),
-- What does not vary within a task differs by nothing, whatever rounding leaves.
means as (
    select
        *,
        lowest < highest as is_informative,
        if(lowest < highest, sum_passed / nullif(n_passed, 0), lowest) as mean_passed,
        if(lowest < highest, sum_failed / nullif(n_failed, 0), lowest) as mean_failed
    from tasks
    where kind = 'number'
),
-- A number that is the same everywhere says nothing.
averaged as (
    select
        run_id, feature,
        count(*) as n_tasks,
        count(*) filter (where is_informative) as n_informative,
        cast(sum(n_passed) as bigint) as n_passed,
        cast(sum(n_failed) as bigint) as n_failed,
        sorted_sum(mean_passed) / count(*) as mean_when_passed,
        sorted_sum(mean_failed) / count(*) as mean_when_failed,
        list(mean_passed - mean_failed order by mean_passed - mean_failed) as differences,
        list_sum(differences) / nullif(count(*), 0) as mean_difference
    from means
    group by run_id, feature
    having min(lowest) < max(highest)
)
-- A feature that every rollout has, or none, says nothing. A ratio of 0 or infinity takes its
-- interval from the tasks themselves.
select
    run_id, feature,
    'binary' as kind,
    cast(sum(n_tasks) as bigint) as n_tasks,
    cast(coalesce(sum(n_tasks) filter (where is_informative), 0) as bigint) as n_informative,
    cast(sum(n_tasks * a) as bigint) as n_with_passed,
    cast(sum(n_tasks * n_passed) as bigint) as n_passed,
    cast(sum(n_tasks * c) as bigint) as n_with_failed,
    cast(sum(n_tasks * n_failed) as bigint) as n_failed,
    sum(n_tasks * a) / nullif(sum(n_tasks * terms.n_passed), 0) as rate_when_passed,
    sum(n_tasks * c) / nullif(sum(n_tasks * terms.n_failed), 0) as rate_when_failed,
    sorted_sum(n_tasks * up) as up,
    sorted_sum(n_tasks * down) as down,
    sorted_sum(n_tasks * null_variance) as null_variance,
    sorted_sum(n_tasks * agreeing * up) as spread_up,
    sorted_sum(n_tasks * (agreeing * down + opposing * up)) as spread_across,
    sorted_sum(n_tasks * opposing * down) as spread_down,
    case
        when max(up) = 0 or max(down) = 0 then string_agg(
            case
                when is_informative then n_passed || ':' || n_failed || ':' || n_with || ':' || n_tasks
            end,
            ' ' order by n_passed, n_failed, n_with
        )
    end as edge_strata
from terms
group by run_id, feature
having sum(n_tasks * n_with) between 1 and sum(n_tasks * n) - 1
union all by name
select
    * exclude (differences),
    'number' as kind,
    sqrt(
        list_sum(list_transform(
            differences,
            lambda difference: (difference - mean_difference) * (difference - mean_difference)
        )) / nullif(n_tasks - 1, 0) / nullif(n_tasks, 0)
    ) as se_difference
from averaged
order by run_id, feature
