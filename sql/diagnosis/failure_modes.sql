-- How often a run fails in each way, by the primary mode of each attempt that did not pass.
-- grain: run_id, mode
-- kind: table
-- needs: main.rollout_modes
with tasks as (
    select
        run_id, mode, task_id,
        any_value(source) as source,
        bool_or(is_description) as is_description,
        any_value(cause) as cause,
        count(*) as n_matched,
        count(*) filter (where is_primary) as n_rollouts,
        count(rollout_id) filter (where is_primary) as n_recorded,
        arg_min(
            {citation: rollout_id || coalesce('#' || evidence_seq, ''), snippet: snippet},
            rollout_index
        ) filter (where is_primary and rollout_id is not null) as example
    from main.rollout_modes
    left join staging.rollouts using (run_id, task_id, rollout_index)
    group by all
),
counted as (
    select
        run_id, mode,
        min(source) as source,
        bool_or(is_description) as is_description,
        min(cause) as cause,
        cast(sum(n_rollouts) as bigint) as n_rollouts,
        count(*) filter (where n_rollouts > 0) as n_tasks,
        cast(sum(n_matched) as bigint) as n_matched,
        -- One to look at: of the task it hits most, the first.
        arg_min(example, (-n_recorded, task_id)) as example
    from tasks
    group by all
)
select
    run_id, mode,
    case
        when rules.title is not null then rules.title
        when counted.source = 'record' then 'its row says so'
        when counted.source = 'check' then 'this check fails'
        else 'nothing on record explains it'
    end as title,
    counted.source, counted.is_description,
    coalesce(rules.cause, counted.cause) as default_cause,
    rules.intervention,
    coalesce(rules.severity, 0) as severity,
    n_rollouts, n_tasks, n_matched,
    cast(sum(n_rollouts) over (partition by run_id) as bigint) as n_failures,
    n_rollouts / nullif(n_failures, 0) as share_of_failures,
    run_id || '/' || example.citation as example,
    example.snippet
from counted
left join raw.failure_rules as rules using (mode)
