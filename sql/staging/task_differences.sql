-- A number's means over the passes and the failures of a sometimes-pass task.
-- grain: run_id, feature, task_id
with

-- Beyond a million million a number measures nothing.
behaviours as (

    select * from staging.behaviours where kind = 'number' and abs(value) <= 1e12

),

counted as (

    select
        run_id,
        feature,
        task_id,
        count(*) filter (where is_pass) as n_passed,
        count(*) filter (where not is_pass) as n_failed,
        exact_sum(case when is_pass then value end) as sum_passed,
        exact_sum(case when not is_pass then value end) as sum_failed,
        min(value) as lowest,
        max(value) as highest

    from behaviours

    group by run_id, feature, task_id

),

-- A task in which the number is known on one side only compares nothing. What does not vary within
-- a task differs by nothing, whatever rounding leaves.
final as (

    select
        run_id,
        feature,
        task_id,
        n_passed,
        n_failed,
        lowest,
        highest,
        lowest < highest as is_informative,
        case when lowest < highest then sum_passed / nullif(n_passed, 0) else lowest end as mean_passed,
        case when lowest < highest then sum_failed / nullif(n_failed, 0) else lowest end as mean_failed

    from counted

    where n_passed > 0 and n_failed > 0

)

select * from final
