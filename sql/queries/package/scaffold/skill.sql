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
        count(*) filter (where n_tool_calls > 0) as n_with_calls,
        cast(median(n_tool_calls) filter (where n_tool_calls > 0) as bigint) as calls,
        count(answer) as n_answers
    from main.rollouts
);

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

-- task_ids: where task ids come from
select distinct task_id_source from staging.keys
inner join main.rollouts using (record_id, run_id)
order by all;

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

-- fields: every field of the rows that is not the format's own: of too many those at the top and then the commonest.
-- Fields below count too, unless the names there are data: many, or others in every row; a map of many names is one
-- field. An example that may hold a secret is left out
with top as (
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
by_task as (
    select
        path,
        bool_and(is_nested) as is_nested,
        count(distinct hash(value)) as n_values,
        count(*) as n_entries,
        count(*) filter (where json_type(value) != 'NULL') as n_rows,
        list(distinct case json_type(value)
            when 'VARCHAR' then 'text'
            when 'BIGINT' then 'integer'
            when 'UBIGINT' then 'integer'
            when 'DOUBLE' then 'number'
            when 'ARRAY' then 'list'
            else lower(json_type(value))
        end) filter (where json_type(value) != 'NULL') as types,
        min(record_id) filter (where json_type(value) != 'NULL') as first_record,
        arg_min(left(value::varchar, 200), record_id)
            filter (where json_type(value) != 'NULL') as example
    from entries
    group by path, run_id, task_id
),
fields as (
    select
        path,
        bool_and(is_nested) as is_nested,
        max(n_values) > 1 as is_varying,
        max(n_entries) > 1 as is_repeated,
        sum(n_rows) as n_rows,
        list_sort(list_distinct(flatten(list(types)))) as types,
        arg_min(example, first_record) as example
    from by_task
    group by path
    having sum(n_rows) > 0
)
select
    path,
    concat_ws(', ',
        case when is_varying then 'attempt' when is_repeated then 'task' end,
        case when path in (select slice_key from main.slice_metrics) then 'slice' end,
        case when path in (select if(source = 'row', check_name, source) from main.checks) then 'check' end
    ) as use,
    cast(n_rows as bigint) as n_rows,
    coalesce(format('map: {:,} names', n_names), array_to_string(types, ' or ')) as types,
    case
        when regexp_matches(concat(path, chr(10), example), '(?i)api[_-]?key|secret|passw(or)?d|credential|'
            || 'authorization|(access|auth)[_-]?token|private[_-]?key') then '(left out: may hold a secret)'
        when example[1] = '"' then regexp_replace(example[2:], '"$', '') else example
    end as example,
    greatest(0, count(*) over () - 40) as n_left_out
from fields
left join maps on maps.parent = path
qualify row_number() over (order by is_nested, n_rows desc, path) <= 40
order by path;
