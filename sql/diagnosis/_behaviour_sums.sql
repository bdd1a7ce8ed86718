-- Every feature that varies in a run's sometimes-pass tasks, with the sums its test is made of.
-- grain: run_id, feature
-- kind: table
with rollouts as (
    select features.*
    from main.rollout_features as features
    inner join main.task_outcomes as outcomes using (run_id, task_id)
    where outcomes.bucket = 'sometimes' and features.is_pass is not null
),
-- A feature is named by what it asks of rollout_features.
said as (
    select
        run_id,
        task_id,
        rollout_index,
        is_pass,
        unnest([
            struct_pack(feature := 'is_truncated', is_number := false, value := cast(is_truncated as double)),
            struct_pack(feature := 'has_action', is_number := false, value := cast(has_action as double)),
            struct_pack(feature := 'has_feedback', is_number := false, value := cast(has_feedback as double)),
            struct_pack(feature := 'has_answer', is_number := false, value := cast(has_answer as double)),
            struct_pack(feature := 'is_refusal', is_number := false, value := cast(is_refusal as double)),
            struct_pack(feature := 'n_tool_errors > 0', is_number := false, value := cast(n_tool_errors > 0 as double)),
            struct_pack(feature := 'longest_error_streak > 1', is_number := false, value := cast(longest_error_streak > 1 as double)),
            struct_pack(feature := 'ends_in_error', is_number := false, value := cast(ends_in_error as double)),
            struct_pack(feature := 'ends_on_tool', is_number := false, value := cast(ends_on_tool as double)),
            struct_pack(feature := 'n_repeated_calls > 0', is_number := false, value := cast(n_repeated_calls > 0 as double)),
            struct_pack(feature := 'n_malformed_calls > 0', is_number := false, value := cast(n_malformed_calls > 0 as double)),
            struct_pack(feature := 'has_guessed_address', is_number := false, value := cast(has_guessed_address as double)),
            struct_pack(feature := 'self_check = ''passed''', is_number := false, value := cast(coalesce(self_check = 'passed', false) as double)),
            struct_pack(feature := 'n_matched_actions = n_expected_actions', is_number := false, value := cast(n_matched_actions = n_expected_actions as double)),
            struct_pack(feature := 'n_unexpected_calls > 0', is_number := false, value := cast(n_unexpected_calls > 0 as double)),
            struct_pack(feature := 'n_turns', is_number := true, value := cast(n_turns as double)),
            struct_pack(feature := 'n_tool_calls', is_number := true, value := cast(n_tool_calls as double)),
            struct_pack(feature := 'n_tool_errors', is_number := true, value := cast(n_tool_errors as double)),
            struct_pack(feature := 'n_tools', is_number := true, value := cast(n_tools as double)),
            struct_pack(feature := 'output_tokens', is_number := true, value := cast(output_tokens as double)),
            struct_pack(feature := 'input_tokens', is_number := true, value := cast(input_tokens as double)),
            struct_pack(feature := 'duration_s', is_number := true, value := duration_s),
            struct_pack(feature := 'n_final_characters', is_number := true, value := cast(n_final_characters as double))
        ]) as told
    from rollouts
),
-- The tools that each rollout calls at all.
called_tools as (
    select run_id, task_id, rollout_index, tool
    from staging.calls
    inner join staging.rollout_keys using (record_id)
    group by all
),
behaviours_counted as (
    select
        run_id,
        tool,
        count(*) as n_rollouts
    from called_tools
    group by all
),
ranked as (
    select
        *,
        row_number() over (partition by run_id order by n_rollouts desc, tool) as rank
    from behaviours_counted as counted
),
-- The tools that most rollouts of a run call, thirty at most: rarer ones separate nothing.
common_tools as (
    select run_id, tool, n_rollouts
    from ranked
    where rank <= 30
),
called as (
    select
        rollouts.run_id,
        rollouts.task_id,
        rollouts.rollout_index,
        rollouts.is_pass,
        'calls ' || tools.tool as feature,
        cast(calls.tool is not null as double) as value
    from rollouts
    inner join common_tools as tools using (run_id)
    left join called_tools as calls using (run_id, task_id, rollout_index, tool)
),
-- What each rollout of a sometimes-pass task did, a row a feature; a null value is unknown.
all_behaviours as (
    select
        run_id,
        task_id,
        rollout_index,
        is_pass,
        told.feature as feature,
        case when told.is_number then 'number' else 'binary' end as kind,
        told.value as value
    from said
    union all
    select
        run_id,
        task_id,
        rollout_index,
        is_pass,
        feature,
        'binary' as kind,
        value
    from called
),
behaviours as (
    select * from all_behaviours as behaviours where kind = 'binary' and value is not null
),
counted as (
    select
        run_id,
        feature,
        task_id,
        count(*) filter (where is_pass) as n_passed,
        count(*) filter (where not is_pass) as n_failed,
        count(*) filter (where is_pass and value > 0) as n_with_passed,
        count(*) filter (where not is_pass and value > 0) as n_with_failed
    from behaviours
    group by run_id, feature, task_id
),
-- How many tasks of a run split a binary feature between passes and failures in one way.
-- A task in which the feature is known on one side only compares nothing.
behaviour_tallies as (
    select
        run_id,
        feature,
        n_passed,
        n_failed,
        n_with_passed,
        n_with_failed,
        count(*) as n_tasks
    from counted
    where n_passed > 0 and n_failed > 0
    group by run_id, feature, n_passed, n_failed, n_with_passed, n_with_failed
),
-- Of the passes a did it and b did not, of the failures c and d.
tallies as (
    select
        *,
        n_with_passed as a,
        n_passed - n_with_passed as b,
        n_with_failed as c,
        n_failed - n_with_failed as d,
        n_passed + n_failed as n,
        n_with_passed + n_with_failed as n_with
    from behaviour_tallies
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
-- What the tests of a binary feature need, summed over a run's sometimes-pass tasks.
-- A feature that every rollout has, or none, says nothing. A ratio of 0 or infinity takes its
-- interval from the tasks themselves.
behaviour_associations as (
    select
        run_id,
        feature,
        cast(sum(n_tasks) as bigint) as n_tasks,
        cast(coalesce(sum(n_tasks) filter (where is_informative), 0) as bigint) as n_informative,
        cast(sum(n_tasks * n_with_passed) as bigint) as n_with_passed,
        cast(sum(n_tasks * n_passed) as bigint) as n_passed,
        cast(sum(n_tasks * n_with_failed) as bigint) as n_with_failed,
        cast(sum(n_tasks * n_failed) as bigint) as n_failed,
        sorted_sum(n_tasks * up) as up,
        sorted_sum(n_tasks * down) as down,
        sorted_sum(n_tasks * null_variance) as null_variance,
        sorted_sum(n_tasks * agreeing * up) as spread_up,
        sorted_sum(n_tasks * (agreeing * down + opposing * up)) as spread_across,
        sorted_sum(n_tasks * opposing * down) as spread_down,
        case
            when max(up) = 0 or max(down) = 0 then string_agg(
                case
                    when is_informative
                        then n_passed || ':' || n_failed || ':' || n_with || ':' || n_tasks
                end,
                ' ' order by n_passed, n_failed, n_with
            )
        end as edge_strata
    from terms
    group by run_id, feature
    having sum(n_tasks * n_with) between 1 and sum(n_tasks * n) - 1
),
-- Beyond a million million a number measures nothing.
task_differences_behaviours as (
    select * from all_behaviours as behaviours where kind = 'number' and abs(value) <= 1e12
),
task_differences_counted as (
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
    from task_differences_behaviours as behaviours
    group by run_id, feature, task_id
),
-- A number's means over the passes and the failures of a sometimes-pass task.
-- A task in which the number is known on one side only compares nothing. What does not vary within
-- a task differs by nothing, whatever rounding leaves.
task_differences as (
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
    from task_differences_counted as counted
    where n_passed > 0 and n_failed > 0
),
-- A number that is the same everywhere says nothing.
summed as (
    select
        run_id,
        feature,
        count(*) as n_tasks,
        count(*) filter (where is_informative) as n_informative,
        cast(sum(n_passed) as bigint) as n_passed,
        cast(sum(n_failed) as bigint) as n_failed,
        sorted_sum(mean_passed) / count(*) as mean_when_passed,
        sorted_sum(mean_failed) / count(*) as mean_when_failed,
        sorted_list(mean_passed - mean_failed) as differences
    from task_differences as tasks
    group by run_id, feature
    having min(lowest) < max(highest)
),
averaged as (
    select
        *,
        list_total(differences) / nullif(n_tasks, 0) as mean_difference
    from summed
),
-- How far a number lies apart between passes and failures, averaged over sometimes-pass tasks.
behaviour_differences as (
    select
        run_id,
        feature,
        n_tasks,
        n_informative,
        n_passed,
        n_failed,
        mean_when_passed,
        mean_when_failed,
        mean_difference,
        sqrt(
            list_total(list_transform(
                differences, lambda difference: square(difference - mean_difference)
            )) / nullif(n_tasks - 1, 0) / nullif(n_tasks, 0)
        ) as se_difference
    from averaged
)
select
    run_id,
    feature,
    'binary' as kind,
    n_tasks,
    n_informative,
    n_with_passed,
    n_passed,
    n_with_failed,
    n_failed,
    up,
    down,
    null_variance,
    spread_up,
    spread_across,
    spread_down,
    edge_strata,
    cast(null as double) as mean_when_passed,
    cast(null as double) as mean_when_failed,
    cast(null as double) as mean_difference,
    cast(null as double) as se_difference
from behaviour_associations as associations
union all
select
    run_id,
    feature,
    'number' as kind,
    n_tasks,
    n_informative,
    null as n_with_passed,
    n_passed,
    null as n_with_failed,
    n_failed,
    null as up,
    null as down,
    null as null_variance,
    null as spread_up,
    null as spread_across,
    null as spread_down,
    null as edge_strata,
    mean_when_passed,
    mean_when_failed,
    mean_difference,
    se_difference
from behaviour_differences as differences
