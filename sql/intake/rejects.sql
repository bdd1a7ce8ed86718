-- A line that could not be used, with the reason and its beginning.
-- grain: source_file, source_line
-- looks at: run
-- kind: table
-- needs: raw.rejects | staging.keys where rank > 1 | raw.label_mentions | raw.labels
with
-- The first thing that a label names and that is not there: a run, a task, a rollout or an event.
faults as (
    select
        mentions.record_id,
        coalesce('evidence ' || left(mentions.citation, 200) || ': ', '') || case
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
        end as reason
    from raw.label_mentions as mentions
    left join main.runs using (run_id)
    left join main.task_outcomes as tasks using (run_id, task_id)
    -- What was expected can be cited too: that a rollout is missing may be the very evidence.
    left join staging.attempts using (run_id, task_id, rollout_index)
    left join staging.rollouts using (run_id, task_id, rollout_index)
    qualify reason is not null
        and row_number() over (
            partition by mentions.record_id, reason is null order by mentions.place
        ) = 1
),
-- Of labels for one task that name only what is there, the last counts: ids ascend by file, in path
-- order, and by line. Of a rollout the last of each person does.
labels as (
    select
        record_id,
        snippet,
        max(record_id) over (
            partition by run_id, task_id, rollout_index, if(rollout_index is null, null, said_by)
        ) as winner_id
    from raw.labels
    anti join faults using (record_id)
    where renamed is null
),
rejects as (
    select
        record_id,
        reason,
        snippet
    from raw.rejects
    union all
    -- Rows whose key another row holds already: only a whole run can show it.
    select
        record_id,
        'duplicate of ' || winner || ' (task ' || task_id || ', rollout ' || rollout_index || ')'
            as reason,
        null as snippet
    from staging.keys
    where rank > 1 and role in ('rollout', 'input')
    union all
    select
        record_id,
        faults.reason,
        labels.snippet
    from faults
    inner join raw.labels using (record_id)
    union all
    select
        labels.record_id,
        'superseded by ' || files.path || ':' || labels.winner_id % 1099511627776 as reason,
        labels.snippet
    from labels
    inner join raw.files on files.file_no = labels.winner_id // 1099511627776
    where labels.winner_id > labels.record_id
)
select
    files.path as source_file,
    rejects.record_id % 1099511627776 as source_line,
    rejects.reason,
    rejects.snippet
from rejects
inner join raw.files on files.file_no = rejects.record_id // 1099511627776
