-- The first thing that a label names and that is not there: a run, a task, a rollout or an event.
-- grain: record_id
-- kind: table
with checked as (
    select
        mentions.record_id,
        mentions.place,
        mentions.citation,
        case
            when runs.run_id is null then 'there is no run ' || left(mentions.run_id, 100)
            when tasks.run_id is null
                then 'run ' || mentions.run_id || ' has no task ' || left(mentions.task_id, 100)
            when mentions.rollout_index is not null and attempts.run_id is null
                then 'the task has no rollout ' || mentions.rollout_index
            when mentions.seq is not null and coalesce(rollouts.n_events, 0) = 0
                then 'the rollout has no events'
            when mentions.seq < 1 or mentions.seq > rollouts.n_events
                then 'the rollout has no event ' || mentions.seq || ', they are 1 to '
                    || rollouts.n_events
        end as fault
    from raw.label_mentions as mentions
    left join main.runs using (run_id)
    left join main.task_outcomes as tasks using (run_id, task_id)
    -- What was expected can be cited too: that a rollout is missing may be the very evidence.
    left join staging.attempts using (run_id, task_id, rollout_index)
    left join main.rollouts using (run_id, task_id, rollout_index)
),
ranked as (
    select
        *,
        row_number() over (partition by record_id order by place) as rank
    from checked
    where fault is not null
)
select
    record_id,
    coalesce('evidence ' || left(citation, 200) || ': ', '') || fault as reason
from ranked
where rank = 1
