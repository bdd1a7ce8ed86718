-- How many passes of a task, over all runs, show what a rule of root causes takes for a sign.
-- grain: benchmark, task_id, rule, mode
-- kind: table
with

features as (

    select * from main.rollout_features where is_pass

),

matched as (

    select
        features.benchmark,
        features.task_id,
        features.run_id,
        features.rollout_index,
        rules.mode,
        rules.is_profile

    from staging.rule_matches as matches

    inner join raw.failure_rules as rules using (rule_no)

    inner join features using (run_id, task_id, rollout_index)

),

shown as (

    select matched.benchmark, matched.task_id, matched.run_id, matched.rollout_index, spoken.rule, '' as mode
    from matched
    inner join staging.cause_modes as spoken using (mode)

    union all

    select benchmark, task_id, run_id, rollout_index, 'profile_mode' as rule, mode
    from matched
    where is_profile

    union all

    select benchmark, task_id, run_id, rollout_index, 'dominant_mode' as rule, mode
    from matched

    union all

    select benchmark, task_id, run_id, rollout_index, 'answer_within_reference' as rule, '' as mode
    from features
    where is_within_reference and not is_reference

    union all

    select features.benchmark, task_id, run_id, rollout_index, 'conflicting_duplicates' as rule, '' as mode
    from features
    inner join staging.conflicting_duplicates using (run_id, task_id, rollout_index)

    union all

    -- Every pass of such a task is one without it.
    select benchmark, task_id, run_id, rollout_index, 'missing_metadata' as rule, '' as mode
    from features
    inner join staging.missing_metadata using (benchmark, task_id)

),

final as (

    select
        benchmark,
        task_id,
        rule,
        mode,
        count(distinct run_id || '/' || rollout_index) as n_passes

    from shown

    group by all

)

select * from final
