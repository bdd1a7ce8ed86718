-- question: the question that most rows of the run ($1) ask for the task ($2); if the run lacks
-- the task, that of its benchmark ($3)
select
    prompt,
    prompt_sha
from (
    select
        prompt,
        prompt_sha,
        0 as place,
        n_rows
    from task_prompts
    where run_id = $1 and task_id = $2
    union all
    select
        prompt,
        prompt_sha,
        1 as place,
        0 as n_rows
    from tasks
    where benchmark = $3 and task_id = $2
)
order by place, n_rows desc, prompt_sha
limit 1;

-- runs: how each run of the benchmark does on the task, with its cause and label; $4 is the hash
-- of the question
select
    run_id,
    outcomes.bucket,
    n_passed,
    n_scored,
    n_expected,
    mean_reward,
    recorded_task_id,
    case when $4 is not null then list_contains(questions, $4) end as is_same_question,
    cause,
    source,
    note,
    intervention,
    evidence,
    said_by,
    label_source
from (select run_id from runs where benchmark = $3)
left join (from task_outcomes where task_id = $2) as outcomes using (run_id)
left join (select run_id, recorded_task_id from paired_tasks where task_id = $2) using (run_id)
left join (
    select
        run_id,
        list(prompt_sha) as questions
    from task_prompts
    where task_id = $2
    group by all
) using (run_id)
left join (from root_causes where task_id = $2) using (run_id)
left join (
    select
        run_id,
        said_by,
        source_file || ':' || source_line as label_source
    from labels
    where task_id = $2
) using (run_id)
order by run_id <> $1, run_id;

-- attempts: the attempts of the run at the task, the cited one ($3) first
select
    $1 || '/' || $2 || ':' || rollout_index as citation,
    case
        when outcome <> 'scored' then outcome
        when is_pass then 'passed'
        when not is_pass then 'failed'
        else 'pass unknown'
    end as verdict,
    rollout_index,
    outcome,
    is_pass,
    reward,
    answer,
    last_stage,
    failure_class,
    n_turns,
    n_tool_calls,
    n_tool_errors,
    n_checks_passed,
    n_checks_passed + n_checks_failed as n_checks,
    n_met_calls,
    n_expected_calls,
    failure_message,
    count(*) over () as n_attempts
from rollout_features
left join (select run_id, task_id, rollout_index, answer from rollouts)
    using (run_id, task_id, rollout_index)
left join rollout_stages using (run_id, task_id, rollout_index)
where run_id = $1 and task_id = $2
order by rollout_index is distinct from $3, rollout_index
limit $4;

-- modes: the failure modes of each attempt, with the event that shows them
select
    rollout_index,
    mode,
    reason,
    is_primary,
    evidence_seq as seq,
    events.kind,
    tool,
    snippet,
    n_characters as snippet_chars
from (from rollout_modes where run_id = $1 and task_id = $2) as modes
left join (
    select
        rollout_index,
        seq as evidence_seq,
        kind,
        tool
    from events
    where run_id = $1 and task_id = $2
) as events using (rollout_index, evidence_seq)
order by rollout_index, is_primary desc, mode;

-- notes: what the record states of each failing attempt
select
    rollout_index,
    kind,
    note,
    seq
from failure_notes
where run_id = $1 and task_id = $2
order by rollout_index, note_no;

-- expected_calls: for the cited attempt ($3), else the first failing one: expected calls that were
-- not made as expected, and unexpected calls that change something
select
    $1 || '/' || $2 || ':' || rollout_index || coalesce('#' || seq, '') as citation,
    calls.* exclude (run_id, task_id, rollout_index, call_no),
    n_expected,
    n_made
from expected_calls as calls
inner join (
    select
        rollout_index,
        count(*) filter (expected_no is not null) as n_expected,
        count(*) filter (calls.status = 'made') as n_made
    from expected_calls as calls
    left join rollouts using (run_id, task_id, rollout_index)
    where run_id = $1 and task_id = $2
    group by rollout_index
    order by coalesce(rollout_index <> $3, true), min(is_pass), rollout_index
    limit 1
) using (rollout_index)
where
    run_id = $1 and task_id = $2
    and status not in ('made', 'none')
    and (status <> 'unasked' or coalesce(is_write, true))
order by status = 'unasked', call_no
limit $4;

-- contrast: the cited attempt ($3), else the closest pair of the task, compared with a pass
select
    $1 || '/' || $2 || ':' || rollout_index || coalesce('#' || seq, '') as failing,
    $1 || '/' || $2 || ':' || passing_index || coalesce('#' || passing_seq, '') as passing,
    difference,
    failing_event,
    failing_chars as failing_event_chars,
    passing_event,
    passing_chars as passing_event_chars,
    coalesce(arguments, []) as arguments,
    n_calls,
    n_passing_calls,
    n_common,
    n_common_first,
    coalesce(tools_only_failing, []) as tools_only_failing,
    coalesce(tools_only_passing, []) as tools_only_passing,
    differences,
    is_closest,
    count(*) over () as n_contrasts
from contrasts
where run_id = $1 and task_id = $2
order by rollout_index is distinct from $3, is_closest desc, rollout_index
limit 1;

-- errors: the error messages of the attempts, most frequent first
select
    source,
    signature,
    count(*) as n_events,
    count(distinct rollout_index) as n_rollouts,
    count(distinct rollout_index) filter (is_pass) as n_passed,
    arg_min(citation, (rollout_index, place)) as example
from staging.errors
left join rollout_features using (run_id, task_id, rollout_index)
where run_id = $1 and task_id = $2
group by all
order by n_rollouts desc, n_events desc, source, signature
limit $3;

-- prompts: the prompts of a rollout
select
    system_prompt,
    prompt
from task_prompts
where run_id = ? and task_id = ? and prompt_sha is not distinct from ?;
