-- benchmarks: the benchmarks of the warehouse
select
    benchmark,
    count(*) as n_runs,
    max(n_tasks) as n_tasks
from run_metrics
group by all
order by benchmark;

-- runs: the runs of a benchmark with their headline figures
select
    run_id,
    coalesce(model, 'n/a') as model,
    n_tasks,
    n_rollouts,
    pass_at_1,
    pass_at_1_ci_new_tasks_low as low,
    pass_at_1_ci_new_tasks_high as high,
    mean_reward,
    [n_always_tasks, n_sometimes_tasks, n_never_tasks, n_missing_tasks] as buckets
from run_metrics
where benchmark = $benchmark
order by run_id;

-- suite: the runs of all benchmarks with their scores
select
    metrics.benchmark,
    run_id,
    coalesce(model, 'n/a') as model,
    metrics.n_tasks,
    metrics.n_rollouts,
    pass_at_1,
    pass_at_1_ci_new_tasks_low as low,
    pass_at_1_ci_new_tasks_high as high,
    mean_reward,
    n_unhealthy
from run_metrics as metrics
left join run_health using (run_id)
order by metrics.benchmark, run_id
limit 500;

-- options: the values by which tasks can be filtered
with own as (select run_id from runs where benchmark = $benchmark)
select
    (select list(run_id order by run_id) from own) as run,
    ['always', 'sometimes', 'never', 'missing'] as bucket,
    (select list(distinct cause order by cause) from root_causes semi join own using (run_id))
        as cause,
    (
        select list(mode order by rank nulls last, mode)[:100]
        from failure_modes
        where benchmark = $benchmark and run_id is null and parent is null and n_failures > 0
    ) as mode,
    -- Signs of failing attempts, the most frequent first.
    (
        select list(sign order by n_failing desc, sign)[:100]
        from (
            select
                sign,
                count(*) filter (is_pass is distinct from true) as n_failing
            from signs
            inner join rollouts using (run_id, task_id, rollout_index)
            semi join own using (run_id)
            where scope = 'rollout'
            group by sign
            having n_failing > 1
        )
    ) as sign,
    (
        select list(distinct each.key || '=' || each.value)[:200].list_sort()
        from (
            select unnest(map_entries(slices)) as each
            from staging.tasks
            where benchmark = $benchmark
        )
    ) as slice;

-- tasks: all tasks that match the filters, in order; pages are cut from them. Filters on cells
-- must be true in one run; labels of the file replace those of the analysis
with labelled as (
    select unnest($labels::struct(run_id varchar, task_id varchar, cause varchar)[]) as label
),
cells as (
    select
        outcomes.task_id,
        pass_rate,
        mean_reward,
        ($run = '' or outcomes.run_id = $run)
        and ($bucket = '' or outcomes.bucket = $bucket)
        and ($cause = '' or coalesce(label.cause, causes.cause) = $cause)
        and ($mode = '' or (outcomes.run_id, outcomes.task_id) in (
            select (run_id, task_id) from rollout_modes where mode = $mode
        ))
        and ($sign = '' or (outcomes.run_id, outcomes.task_id) in (
            select (run_id, task_id) from signs where sign = $sign
        )) as is_match,
        outcomes.run_id = $sort_run as is_sorted_by
    from task_outcomes as outcomes
    left join root_causes as causes using (run_id, task_id)
    left join labelled
        on label.run_id = outcomes.run_id and label.task_id = outcomes.task_id
    where outcomes.benchmark = $benchmark
),
matching as (
    select
        task_id,
        coalesce(
            max(coalesce(pass_rate, mean_reward)) filter (is_sorted_by),
            case when $sort_run = '' then coalesce(avg(pass_rate), avg(mean_reward)) end,
            -1
        ) as rate,
        coalesce(max(pass_rate) - min(pass_rate), -1) as spread
    from cells
    group by task_id
    having coalesce(bool_or(is_match), false)
),
-- Each union has one empty side, so that texts are read only if words are searched.
worded as (
    select task_id
    from matching
    where contains(lower(task_id), $q)
    union all
    select task_id
    from tasks
    where $q <> '' and benchmark = $benchmark and contains(lower(prompt), $q)
),
sliced as (
    select task_id
    from matching
    where $slice_key = ''
    union all
    select task_id
    from staging.tasks
    where $slice_key <> '' and benchmark = $benchmark and slices[$slice_key] = $slice_value
)
select
    task_id,
    prompt_record
from matching
semi join worded using (task_id)
semi join sliced using (task_id)
left join (select task_id, prompt_record from staging.tasks where benchmark = $benchmark)
    using (task_id)
order by
    case $sort
        when 'easiest' then -rate
        when 'spread' then -spread
        when 'task' then 0
        else rate
    end,
    try_cast(task_id as bigint), task_id;

-- cells: the outcome of each task in each run, with its cause
select
    outcomes.*,
    coalesce(label.cause, causes.cause) as cause,
    if(label is not null, 'label', source) as source,
    note,
    intervention,
    evidence
from (from task_outcomes where benchmark = $benchmark and list_contains($tasks, task_id))
    as outcomes
left join (from root_causes where list_contains($tasks, task_id)) as causes
    using (run_id, task_id)
left join (
    select unnest($labels::struct(run_id varchar, task_id varchar, cause varchar)[]) as label
) on label.run_id = outcomes.run_id and label.task_id = outcomes.task_id
where len($runs) = 0 or list_contains($runs, outcomes.run_id)
order by outcomes.run_id;

-- changes: the comparisons of a benchmark by their leading metric, the largest first
select
    base,
    candidate,
    metric,
    base_common,
    candidate_common,
    delta,
    ci_new_tasks_low as low,
    ci_new_tasks_high as high,
    n_common_tasks,
    verdict,
    count(*) over () as n_all
from comparisons
where benchmark = $benchmark and is_lead and delta is not null
order by is_named desc, is_changed desc, abs(delta) desc, pair_no
limit 6;

-- health: the health of the runs of a benchmark
select health.*
from run_health as health
inner join runs using (run_id)
where benchmark = $benchmark
order by run_id;

-- health_checks: what the checks found in the runs of a benchmark
select
    check_id,
    scope,
    sum(n_findings)::bigint as n_findings,
    count(*) as n_runs,
    min(example) as example
from report.health_checks
semi join (from runs where benchmark = $benchmark) using (run_id)
group by
    check_id,
    scope
order by list_position(['rollout', 'task', 'run'], scope), n_findings desc, check_id;

-- listed_modes: the failure modes of a benchmark, each followed by its parts
select
    *,
    failing_citations[1] as citation
from failure_modes
where benchmark = $benchmark and run_id is null and n_failures > 0
    and (is_told or parent is not null or reason = 'none')
order by
    max(rank) over (partition by coalesce(parent, mode)) nulls last,
    coalesce(parent, mode), parent nulls first, n_failures desc, mode
limit 60;

-- rollouts: the attempts at a benchmark that match the filters, in order; pages are cut from them
with own as (
    select run_id
    from runs
    where benchmark = $benchmark and ($run = '' or run_id = $run)
),
hits as (
    select
        run_id,
        task_id,
        rollout_index,
        count(*) as n_hits,
        min(seq) as seq,
        arg_min(substr(body, greatest(1, place - 80), 240), seq) as around
    from (
        select
            run_id,
            task_id,
            rollout_index,
            seq,
            concat_ws(' ', tool, text, arguments) as body,
            strpos(lower(body), $q) as place
        from events
        semi join own using (run_id)
        where $q <> ''
    )
    where place > 0
    group by all
)
select
    run_id,
    task_id,
    rollout_index,
    is_pass,
    outcome = 'scored' as is_scored,
    case
        when is_pass then 'passed'
        when not is_pass then 'failed'
        else outcome
    end as verdict,
    reward,
    n_turns,
    n_tool_calls,
    n_tool_errors,
    n_events,
    input_tokens,
    output_tokens,
    duration_s,
    n_checks_failed,
    finish_reason,
    modes.mode,
    coalesce(hits.seq, modes.evidence_seq) as seq,
    coalesce(hits.around, left(modes.snippet, 240)) as words,
    n_hits
from rollout_features
semi join own using (run_id)
left join (from rollout_modes where is_primary) as modes using (run_id, task_id, rollout_index)
left join hits using (run_id, task_id, rollout_index)
where outcome in ('scored', 'unscored')
    and ($q = '' or n_hits > 0)
    and case $verdict
        when '' then true
        when 'passed' then is_pass
        when 'failed' then not is_pass
        else outcome = 'unscored'
    end
    and ($mode = '' or (run_id, task_id, rollout_index) in (
        select (run_id, task_id, rollout_index) from rollout_modes where mode = $mode
    ))
    and ($sign = '' or (run_id, task_id, rollout_index) in (
        select (run_id, task_id, rollout_index) from signs where sign = $sign
    ))
    and ($health = '' or (run_id, task_id, rollout_index) in (
        select (run_id, task_id, rollout_index) from health_findings where check_id = $health
    ))
order by run_id, try_cast(task_id as bigint), task_id, rollout_index;

-- prompts: the beginnings of prompts by record: a join would read every text
select
    record_id,
    left(prompt, 200) as prompt
from raw.texts
where list_contains($records, record_id);

-- task: a task and its question; a task that was only expected has no question
select
    benchmark,
    task_id,
    left(prompt, 20000) as prompt,
    length(prompt) as n_characters,
    n_prompts,
    slices
from (
    select distinct
        benchmark,
        task_id
    from task_outcomes
    where benchmark = $benchmark and task_id = $task
)
left join (from tasks where benchmark = $benchmark and task_id = $task)
    using (benchmark, task_id);

-- attempts: the attempts of all runs at a task
select
    run_id,
    rollout_index,
    outcome,
    is_pass,
    outcome = 'scored' as is_scored,
    reward,
    n_turns,
    n_tool_calls,
    n_tool_errors,
    answer,
    modes.mode,
    modes.snippet,
    modes.evidence_seq,
    notes.note
from rollout_features
left join (
    select
        run_id,
        task_id,
        rollout_index,
        string_agg(note, '; ' order by note_no) as note
    from failure_notes
    where task_id = $task and note_no <= 3
    group by all
) as notes using (run_id, task_id, rollout_index)
left join (from rollout_modes where is_primary and task_id = $task) as modes
    using (run_id, task_id, rollout_index)
left join (
    select
        run_id,
        task_id,
        rollout_index,
        left(answer, 300) as answer
    from staging.rollouts
    where task_id = $task
) using (run_id, task_id, rollout_index)
where task_id = $task and run_id in (select run_id from runs where benchmark = $benchmark)
order by run_id, rollout_index
limit $most;

-- record: the record of an attempt, by which its other rows are found fast
select record_id
from staging.rollout_keys
where run_id = $run and task_id = $task and rollout_index = $index;

-- rollout: what is recorded of an attempt
select
    rollouts.* exclude (final_text),
    benchmark,
    model_of_run,
    limits,
    failure_class,
    message as failure_message
from (from rollouts where record_id = $record) as rollouts
inner join (
    select
        run_id,
        benchmark,
        coalesce(model, 'no model recorded') as model_of_run,
        limits
    from runs
) using (run_id)
left join (
    select
        run_id,
        task_id,
        rollout_index,
        failure_class,
        message
    from failures
    where run_id = $run and task_id = $task and rollout_index = $index
    order by attempt desc
    limit 1
) using (run_id, task_id, rollout_index);

-- siblings: the recorded attempts of the same run at the same task
select
    rollout_index,
    is_pass,
    outcome = 'scored' as is_scored
from rollout_features
where run_id = $run and task_id = $task and outcome in ('scored', 'unscored')
order by rollout_index;

-- question: the question of an attempt
select
    left(prompt, 20000) as prompt,
    length(prompt) as n_characters,
    left(system_prompt, 20000) as system_prompt,
    length(system_prompt) as n_system
from task_prompts
where run_id = $run and task_id = $task and prompt_sha is not distinct from $sha;

-- checks: the checks of the verifier on an attempt, failed ones first
from checks
where run_id = $run and task_id = $task and rollout_index = $index
order by is_passed nulls last, source, check_name;

-- modes: the failure modes of an attempt
from rollout_modes
where run_id = $run and task_id = $task and rollout_index = $index
order by is_primary desc, mode;

-- notes: what the record states of a failing attempt
from failure_notes
where run_id = $run and task_id = $task and rollout_index = $index
order by note_no;

-- signs: the signs of an attempt
from signs
where run_id = $run and task_id = $task and rollout_index = $index
order by kind, sign
limit 300;

-- events: a page of events; texts are cut, so that pages of long transcripts stay small. Embedded
-- images and sounds are taken out of the text. A turn is a stretch of the model's own events
with own as (
    select
        *,
        coalesce(text, arguments, '') as body,
        kind <> 'tool_result' and (kind <> 'message' or coalesce(role, 'assistant') = 'assistant')
            as is_model
    from events
    where run_id = $run and task_id = $task and rollout_index = $index
),
turns as (
    select
        seq,
        count(if(is_start, 1, null)) over (order by seq) as turn_no,
        is_start
    from (
        select
            seq,
            is_model and not coalesce(lag(is_model) over (order by seq), false) as is_start
        from own
    )
)
select
    seq,
    kind,
    role,
    tool,
    call_id,
    is_error,
    status,
    duration_s,
    case when is_start then turn_no end as turn_no,
    case
        when has_media
            then left(regexp_replace(body, '(;base64,)[A-Za-z0-9+/=]{100,}', '\1…', 'g'), $cut)
        else left(body, $cut)
    end as body,
    length(body) as n_characters,
    case
        when has_media then regexp_extract_all(
            body, 'data:(image/(png|jpeg|gif|webp)|audio/(wav|mpeg|ogg));base64,[A-Za-z0-9+/]+=?=?'
        )[:4]
        else []
    end as media
from (select *, contains(body, ';base64,') as has_media from own)
inner join turns using (seq)
where seq between $first and $last
order by seq;

-- observed: what the harness recorded of the agents of an attempt
select trajectory
from raw.records
where record_id = $record;

-- analysis_labels: the labels that the analysis read of a task and of one of its rollouts
select
    rollout_index,
    mode,
    cause,
    note,
    nullif(said_by, '') as said_by,
    coalesce(evidence, []) as evidence,
    source_file,
    source_line as line_no
from (
    from labels
    union all by name
    from rollout_labels
)
where run_id = $run and task_id = $task and coalesce(rollout_index, $index) = $index
order by rollout_index nulls first, said_by;

-- media: the images and sounds of the request (event 0) and of the messages of an attempt
select
    seq,
    string_split(media, e'\n') as media
from raw.events
where record_id = $record and media is not null and (seq = 0 or seq between $first and $last);

-- event_count: the last event of an attempt, its errors, and how many events of each kind
select
    coalesce(max(seq), 0) as last,
    coalesce(list(seq order by seq) filter (is_error), [])[:300] as errors,
    histogram(kind) as kinds
from events
where run_id = $run and task_id = $task and rollout_index = $index;

-- hits: events that contain a text
select
    seq,
    kind,
    tool,
    count(*) over () as n_hits,
    substr(body, greatest(1, place - 80), 240) as around
from (
    select
        seq,
        kind,
        tool,
        concat_ws(' ', tool, text, arguments) as body,
        strpos(lower(body), $q) as place
    from events
    where run_id = $run and task_id = $task and rollout_index = $index
)
where place > 0
order by seq
limit 100;

-- event: one event in full
from events
where run_id = $run and task_id = $task and rollout_index = $index and seq = $seq;

-- expected_calls: expected calls that were not made as expected, and unexpected calls of tools
-- that change something
select
    calls.status,
    tool,
    detail,
    seq,
    left(events.arguments, 20000) as arguments
from (
    from expected_calls
    where run_id = $run and task_id = $task and rollout_index = $index
        and status not in ('made', 'none') and (status <> 'unasked' or coalesce(is_write, false))
    order by call_no
    limit 12
) as calls
left join (
    select
        seq,
        arguments
    from events
    where run_id = $run and task_id = $task and rollout_index = $index
) as events using (seq)
order by call_no;

-- contrast: where the closest pass diverges from an attempt
select
    concat(run_id, '/', task_id, ':', passing_index, '#' || passing_seq) as passing,
    difference,
    seq,
    passing_event,
    failing_event
from contrasts
where run_id = $run and task_id = $task and rollout_index = $index;

-- passes: passes to compare a failing attempt with: the closest of its run first
select
    citation,
    min(place) as place
from (
    select
        run_id || '/' || task_id || ':' || passing_index as citation,
        0 as place
    from contrasts
    where run_id = $run and task_id = $task and rollout_index = $index
    union all
    select
        run_id || '/' || task_id || ':' || rollout_index,
        1 + (run_id <> $run)::int
    from rollout_features
    where is_pass and task_id = $task
        and run_id in (select run_id from runs where benchmark = $benchmark)
)
group by citation
order by place, citation
limit 8;

-- flipped: the pairs of attempts at tasks that only one of two runs passes
select
    split_part(failing, '#', 1) as failing,
    split_part(passing, '#', 1) as passing
from flips;

-- pairs: the pairs of runs that the analysis compared
select distinct
    base,
    candidate,
    benchmark,
    pair_no
from comparisons
order by benchmark, pair_no
limit 1000;

-- metrics: the comparisons of a pair, the leading metric first
from comparisons
where base = $base and candidate = $candidate
order by is_lead desc, metric;

-- ledger: the ledgers of a comparison
from ledger
where base = $base and candidate = $candidate and metric = $metric
order by
    list_position(
        ['task mix', 'failure modes', 'bucket transitions', 'funnel', 'slices'], ledger
    ),
    policy desc, slice_key, line_no;

-- settings: settings that differ between two runs
from comparison_settings
where base = $base and candidate = $candidate
order by setting;

-- flips: the tasks that only one of two runs passes
from flips
where base = $base and candidate = $candidate
order by side desc, abs(change) desc, try_cast(task_id as bigint), task_id;

-- flip_signs: the most frequent signs of the failing side of such tasks
from flip_signs
where base = $base and candidate = $candidate and rank <= 5
order by side desc, rank;

-- line_tasks: the tasks behind a line of a ledger: for failure modes those whose share changed
-- (for rewards all that have the mode), for the funnel those where one run reaches the stage more
-- often
with failing as (
    select
        task_id,
        count(*) filter (run_id = $base) as n_base,
        count(*) filter (run_id = $candidate) as n_candidate
    from rollout_modes
    inner join rollout_features using (run_id, task_id, rollout_index)
    where $ledger = 'failure modes' and run_id in ($base, $candidate)
        and is_primary and mode = $line and ($policy <> 'dropped' or outcome = 'scored')
    group by task_id
),
stage as (select max(stage_no) as stage_no from funnel where run_id = $base and stage = $line),
reached as (
    select
        task_id,
        avg((last_stage_no >= stage_no)::int) filter (run_id = $base)
            is distinct from
            avg((last_stage_no >= stage_no)::int) filter (run_id = $candidate) as is_changed
    from rollout_stages
    cross join stage
    where $ledger = 'funnel' and run_id in ($base, $candidate)
    group by task_id
),
sliced as (
    select
        benchmark,
        task_id,
        coalesce(slices[$slice], '') = $line as is_in
    from staging.tasks
    where $ledger = 'slices'
)
select
    sides.*,
    count(*) over () as n_found
from comparison_tasks as sides
left join failing using (task_id)
left join reached using (task_id)
left join sliced using (benchmark, task_id)
where base = $base and candidate = $candidate and case $ledger
    when 'bucket transitions'
        then is_common and base_bucket || ' to ' || candidate_bucket = $line
    when 'task mix' then case $line
        when 'tasks of both' then is_common
        when 'only in the base' then pairing = 'base only' and base_n_scored > 0
        when 'only in the candidate' then pairing = 'candidate only' and candidate_n_scored > 0
        when 'not scored in the base' then is_paired and not is_common and candidate_n_scored > 0
        when 'not scored in the candidate' then is_paired and not is_common and base_n_scored > 0
        when 'another question in the base' then pairing = 'contradicted' and base_n_scored > 0
        else pairing = 'contradicted' and candidate_n_scored > 0
    end
    when 'slices' then is_in and (
        is_common or $effect = 'mix' and greatest(base_n_scored, candidate_n_scored) > 0
    )
    when 'funnel' then is_common and is_changed
    else is_paired and (is_common or $policy <> 'dropped') and case
        when $metric <> 'pass_at_1'
            then n_base + n_candidate > 0 or $line = 'passed' and reward_change <> 0
        when $policy = 'dropped'
            then n_base * candidate_n_scored <> n_candidate * base_n_scored
        else n_base * candidate_n_attempts <> n_candidate * base_n_attempts
    end
end
order by
    abs(coalesce(case $metric when 'pass_at_1' then pass_change end, reward_change)) desc
        nulls last,
    try_cast(task_id as bigint), task_id
limit $most offset $skipped;

-- schema: the columns of every public relation
select
    table_name as relation,
    list(column_name order by column_index) as columns
from duckdb_columns()
where schema_name = 'main' and database_name = current_database()
group by all
order by relation;

-- run_ids: the runs of a benchmark, or all
select run_id
from runs
where $benchmark = '' or benchmark = $benchmark
order by run_id;
