-- What the draft of a skill says of the data, each ordered down to a unique key.

-- runs: each run with its figures
select
    run_id,
    runs.model,
    runs.n_rollouts,
    metrics.* exclude (run_id, model, n_rollouts)
from main.runs
inner join main.run_metrics as metrics using (run_id)
order by run_id;

-- shape: what tasks and rollouts look like, in one row
from (
    select
        count(*) as n_tasks,
        min(length(prompt)) as shortest,
        max(length(prompt)) as longest
    from main.tasks
), (
    select
        count(*) as n_rollouts,
        max(n_turns) as most_turns,
        count(*) filter (where n_tool_calls > 0) as n_with_calls,
        cast(median(n_tool_calls) filter (where n_tool_calls > 0) as bigint) as calls,
        count(answer) as n_answers,
        count(final_text) as n_texts
    from main.rollouts
), (
    select count(distinct (run_id, task_id, rollout_index)) as n_with_users
    from main.events
    where kind = 'message' and role = 'user'
), (
    select count(*) filter (where n_expected_calls is not null) as n_with_expected
    from main.rollout_features
), (
    select
        count(*) as n_ungraded,
        min(reason) as ungraded
    from staging.ungraded
    inner join main.rollouts using (record_id)
    where is_scored
);

-- systems: the most used system prompt, and how many there are
select
    system_prompt,
    count(*) over () as n_systems
from main.task_prompts
where trim(system_prompt) != ''
group by system_prompt
order by sum(n_rows) desc, system_prompt
limit 1;

-- prompts: three tasks of different slices
select
    task_id,
    prompt,
    array_to_string(list_transform(
        map_entries(slices), lambda entry: entry.key || ' ' || entry.value), ', ') as slices
from main.tasks
where trim(prompt) != ''
order by
    row_number() over (partition by slices order by try_cast(task_id as bigint), task_id),
    try_cast(task_id as bigint), task_id
limit 3;

-- rewards: the most frequent rewards
select
    reward,
    count(*) as n_rollouts,
    count(*) over () as n_values
from main.rollouts
where is_scored
group by reward
order by n_rollouts desc, reward
limit 6;

-- tools: how often each tool is called, and how its rollouts end
select
    tool,
    count(*) as n_calls,
    count(*) filter (where is_error) as n_errors,
    count(distinct record_id) as n_rollouts,
    count(distinct record_id) filter (where is_pass) as n_passed
from staging.calls
inner join main.rollouts using (record_id)
where tool is not null
group by tool
order by n_calls desc, tool
limit 30;

-- events: how many events of each kind
select
    kind,
    count(*) as n_events
from main.events
group by kind
order by n_events desc, kind;

-- checks: the checks of each source
select
    source,
    count(distinct check_name) as n_names,
    min(check_name) as example,
    count(*) as n_checks,
    count(*) filter (where not is_passed) as n_failed
from main.checks
group by source
order by source;

-- task_ids: where task ids come from
select distinct task_id_source from staging.keys
inner join main.rollouts using (record_id, run_id)
order by all;

-- files: the files of each kind
select
    kind,
    count(*) as n_files,
    cast(sum(n_rows) as bigint) as n_rows,
    cast(sum(n_rejects) as bigint) as n_rejects
from main.artifacts
where kind not in ('profile', 'labels')
group by kind
order by kind;

-- slices: the slices, with some of their values
select
    slice_key,
    count(*) as n_values,
    list(slice_value order by slice_value)[:8] as shown
from (select distinct slice_key, slice_value from main.slice_metrics)
group by slice_key
order by slice_key;

-- funnel: rollouts that reach each stage, by run
select
    stage,
    map_from_entries(list((run_id, n_reached) order by run_id)) as reached,
    map_from_entries(list((run_id, n_lost) order by run_id)) as lost
from main.funnel
group by stage
order by min(stage_no);

-- modes: the failure modes of all runs together
select
    mode,
    reason,
    n_failures,
    n_failures_observed,
    n_passes,
    n_passes_observed,
    n_tasks,
    n_all_failures,
    look_at,
    citations[1] as example,
    (select any_value(predicate) from raw.failure_rules as rules where rules.mode = modes.mode) as predicate
from main.failure_modes as modes
where run_id is null and parent is null and n_failures > 0
order by rank nulls last, mode
limit 40;

-- errors: the most frequent errors
select
    signature,
    cast(sum(n_rollouts) as bigint) as n_rollouts,
    cast(sum(n_failed) as bigint) as n_failed,
    min(example) as example
from main.error_signatures
group by source, signature
order by n_rollouts desc, source, signature
limit 6;

-- contrasts: tasks with a failing and a passing attempt that differ late
select
    run_id,
    task_id,
    rollout_index,
    passing_index,
    difference,
    seq,
    passing_seq
from main.contrasts
where is_closest
qualify row_number() over (
    partition by run_id order by n_common_first desc, try_cast(task_id as bigint), task_id
) <= 4
order by run_id, try_cast(task_id as bigint), task_id
limit 12;

-- nevers: tasks that no attempt passes, with their commonest mode
with signs as (
    select
        run_id,
        task_id,
        mode,
        count(*) as n_with_mode
    from main.rollout_modes
    where is_primary and kind <> 'none'
    group by run_id, task_id, mode
    qualify row_number() over (partition by run_id, task_id order by n_with_mode desc, mode) = 1
),
examples as (
    select
        run_id,
        task_id,
        min(rollout_index) as rollout_index
    from main.rollouts
    group by all
)
select
    run_id,
    task_id,
    rollout_index,
    mode,
    n_with_mode,
    n_scored
from main.task_outcomes
inner join examples using (run_id, task_id)
left join signs using (run_id, task_id)
where bucket = 'never'
qualify row_number() over (
    partition by run_id order by n_scored desc, try_cast(task_id as bigint), task_id
) <= 4
order by run_id, try_cast(task_id as bigint), task_id
limit 12;

-- gaps: what the data lack, and what cannot be claimed without it
select
    any_value(missing) as missing,
    any_value(claims) as claims,
    any_value(collect) as collect,
    any_value(unit) as unit,
    cast(sum(n_rows) as bigint) as n_rows,
    cast(sum(n_of) as bigint) as n_of
from report.gaps
group by gap_no
order by gap_no;

-- fields: every field that some rollout has: the format's own by their columns, each with what it is for,
-- then others, of too many those at the top and then the commonest. Their fields count too, unless the names there
-- are data: many, or others in every row; a map of many names is one field. An example that may hold a secret is
-- left out
with owned (place, path, name, use) as (
    from (values
        (1, '_ng_task_index', 'task_index', 'task id'),
        (2, '_ng_rollout_index', 'rollout_index', 'rollout id: the repeat'),
        (3, '_ng_attempt_index', 'attempt_index', 'the try, where a rollout was tried again'),
        (4, 'stage_index', 'stage_index', 'stage of a task in several stages'),
        (5, 'agent_ref.name', 'agent', 'the agent'),
        (6, 'skills_ref.hash', 'skills_hash', 'which skills the agent had'),
        (7, 'responses_create_params.input', 'prompt', 'what was asked; here its user''s side'),
        (8, 'responses_create_params.max_output_tokens', 'request_max_output_tokens', 'limit'),
        (9, 'responses_create_params.temperature', 'request_temperature', 'sampling'),
        (10, 'response.model', 'response_model', 'the model'),
        (11, 'response.status', 'response_status', 'how the response ended'),
        (12, 'response.incomplete_details.reason', 'incomplete_reason', 'why it ended early'),
        (13, 'response.error', 'response_error', 'error of the model''s call'),
        (14, 'response.output', 'final_text', 'output: its items are events; here the last text'),
        (15, 'response.usage', 'usage', 'tokens'),
        (16, 'reward', 'reward', 'reward'),
        (17, 'reward_components', 'reward_components', 'parts of the reward'),
        (18, 'mask_sample', 'mask_sample', 'not to be trained on'),
        (19, 'ng_perf', 'perf', 'timing'),
        (20, 'ng_trajectory', 'trajectory', 'model calls, for the health checks')
    )
),
texts as (
    select
        record_id,
        columns([
            'task_index', 'rollout_index', 'attempt_index', 'stage_index', 'agent', 'skills_hash',
            'request_max_output_tokens', 'request_temperature', 'response_model', 'response_status',
            'incomplete_reason', 'response_error', 'usage', 'reward', 'reward_components', 'mask_sample', 'perf',
            'trajectory'
        ])::varchar,
        to_json(prompt)::varchar as prompt,
        to_json(final_text)::varchar as final_text
    from raw.records
    left join staging.final_texts using (record_id)
    semi join staging.rollouts using (record_id)
),
top as (
    select
        rollouts.run_id,
        rollouts.task_id,
        records.record_id,
        unnest(map_entries(json_fields(records.verifier))) as entry
    from raw.records as records
    inner join main.rollouts as rollouts using (record_id)
),
below as (
    select
        * exclude (entry),
        entry.key as parent,
        unnest(map_entries(json_fields(entry.value))) as entry
    from top
    where json_type(entry.value) = 'OBJECT'
),
maps as (
    select
        parent,
        count(distinct entry.key) as n_names
    from below
    group by parent
    having n_names > 12 or (n_names > 3 and 2 * count(*) < n_names * count(distinct record_id))
),
entries as (
    select
        * exclude (entry),
        entry.key as path,
        entry.value as value,
        false as is_nested
    from top
    union all
    select
        * exclude (entry, parent),
        parent || '.' || entry.key,
        entry.value,
        true
    from below
    anti join maps using (parent)
),
others as (
    select
        path,
        bool_and(is_nested) as is_nested,
        count(*) filter (where json_type(value) != 'NULL') as n_rows,
        list(distinct json_type(value)) as types,
        arg_min(left(value::varchar, 200), record_id)
            filter (where json_type(value) != 'NULL') as example
    from entries
    group by path
    having n_rows > 0
),
constancy as (
    select
        path,
        max(n_values) > 1 as is_varying,
        max(n_rows) > 1 as is_repeated
    from (
        select
            path,
            count(distinct hash(value)) as n_values,
            count(*) as n_rows
        from entries
        group by path, run_id, task_id
    )
    group by path
),
seen as (
    select
        false as is_other,
        place,
        path,
        use,
        n_rows,
        example,
        types,
        null as n_names
    from owned
    inner join (
        select
            name,
            count(*) as n_rows,
            arg_min(left(value, 200), record_id) as example,
            if(name = 'final_text', ['ARRAY'], list(distinct try(json_type(value)))) as types
        from (unpivot texts on columns(* exclude (record_id)) into name name value value)
        where value != 'null'
        group by name
    ) using (name)
    union all
    select
        true,
        row_number() over (order by is_nested, n_rows desc, path),
        path,
        concat_ws(', ',
            case when is_varying then 'attempt' when is_repeated then 'task' end,
            case when path in (select slice_key from main.slice_metrics) then 'slice' end,
            case when path in (select if(source = 'row', check_name, source) from main.checks) then 'check' end,
            case when regexp_matches(lower(split_part(path, '.', -1)), '^(expected_.*|ground_truth.*|gt|gold.*|'
                || 'reference|reference_.*|answer|answer_key|correct_answer|label|solution|target)$')
            then 'reference' end
        ),
        n_rows,
        example,
        types,
        n_names
    from others
    inner join constancy using (path)
    left join maps on maps.parent = path
)
select
    path,
    use,
    n_rows,
    coalesce(format('map: {:,} names', n_names), nullif(array_to_string(list_sort(list_distinct(list_transform(
        list_filter(types, lambda kind: kind != 'NULL'),
        lambda kind: case kind when 'VARCHAR' then 'text' when 'BIGINT' then 'integer' when 'UBIGINT' then 'integer'
            when 'DOUBLE' then 'number' when 'ARRAY' then 'list' else lower(kind) end
    ))), ' or '), ''), 'null') as types,
    case
        when regexp_matches(concat(path, chr(10), example), '(?i)api[_-]?key|secret|passw(or)?d|credential|'
            || 'authorization|(access|auth)[_-]?token|private[_-]?key') then '(left out: may hold a secret)'
        when example[1] = '"' then regexp_replace(example[2:], '"$', '') else example
    end as example,
    greatest(0, count(*) filter (where is_other) over () - 40) as n_left_out
from seen
qualify not is_other or place <= 40
order by is_other, if(is_other, path, ''), place;
