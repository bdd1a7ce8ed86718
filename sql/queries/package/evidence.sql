-- What `blade verify` asks of a warehouse about the rollouts that a report cites; a name before each.
-- asked: the rollouts that a report cites, which two others read
select
    unnest(?::varchar[]) as run_id,
    unnest(?::varchar[]) as task_id,
    unnest(?::bigint[]) as rollout_index;
-- rollouts: how each went; an attempt that left no row is cited by the place it would have had
select
    asked.*,
    case when is_scored then is_pass end,
    coalesce(n_events, 0),
    coalesce(modes, [])
from asked
left join main.rollouts as rollouts using (run_id, task_id, rollout_index)
left join (
    select run_id, task_id, rollout_index, list(distinct mode) as modes
    from main.rollout_modes
    group by all
) using (run_id, task_id, rollout_index)
where
    rollouts.run_id is not null
    or (run_id, task_id, rollout_index) in (
        select (run_id, task_id, rollout_index) from main.expected
        union all
        select (run_id, task_id, rollout_index) from main.failures
    );
-- record: all that is on record of them, by event, then everything else, the question included
select asked.*, seq, null, coalesce(tool || ' ', '') || arguments
from asked
inner join main.events using (run_id, task_id, rollout_index)
where arguments is not null
union all
select asked.*, seq, call_id, text
from asked
inner join main.events using (run_id, task_id, rollout_index)
union all
select asked.*, null, null, unnest([final_text, answer, verifier::varchar])
from asked
inner join main.rollouts using (run_id, task_id, rollout_index)
union all
select asked.*, null, null, unnest([message, verifier::varchar])
from asked
inner join main.failures using (run_id, task_id, rollout_index)
union all
select asked.*, null, null, snippet
from asked
inner join main.rollout_modes using (run_id, task_id, rollout_index)
union all
select asked.*, null, null, message
from asked
inner join main.health_findings using (run_id, task_id, rollout_index)
union all
select asked.*, null, null, note
from asked
inner join main.failure_notes using (run_id, task_id, rollout_index)
union all
-- The words of a card for a check that the pass meets.
select asked.*, null, null, 'meets ' || left(check_name, 80) || coalesce(': ' || nullif(message, ''), '')
from asked
inner join main.checks using (run_id, task_id, rollout_index)
where is_passed
union all
select asked.*, seq, null, failing_event
from asked
inner join main.contrasts using (run_id, task_id, rollout_index)
union all
select asked.*, passing_seq, null, passing_event
from asked
inner join main.contrasts
    on contrasts.run_id = asked.run_id
    and contrasts.task_id = asked.task_id
    and passing_index = asked.rollout_index
union all
select asked.*, null, null, unnest([prompt, system_prompt])
from asked
inner join main.task_prompts using (run_id, task_id);
-- prompts: what a task asks
select prompt from main.task_prompts where task_id = ?;
-- ours: words of ours that a report may set in quotes
select stage from main.funnel union select mode from main.failure_modes;
-- indexes: the repeats of a task
select rollout_index from main.rollouts where run_id = ? and task_id = ? order by all;
-- runs: all runs
select run_id from main.runs order by all;
-- tasks: how each task fared
select run_id, task_id, n_passed, n_scored, bucket from main.task_outcomes order by all;
-- causes: what labels, the profile or the record give
select run_id, task_id, cause, source from main.root_causes;
-- modes: all names of modes
select distinct mode from main.rollout_modes;
-- redacted: whether something was taken out of the text
select 1 from main.events where contains(text, 'redacted') or contains(arguments, 'redacted') limit 1;
