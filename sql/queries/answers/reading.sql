-- strata: the strata of the plan over a benchmark, or a run of it ($run), and how far each is read
select
    stratum,
    any_value(n_stratum) as n_stratum,
    count(*) filter (place <= $size) as n_planned,
    count(*) filter (place <= $size) / any_value(n_stratum) as inclusion_rate,
    count(*) filter (is_read) as n_read,
    any_value(n_counted) as n_counted
from reading_plan
where
    benchmark = $benchmark
    and case when $run is null then scope = 'benchmark' else scope = 'run' and run_id = $run end
group by stratum
order by n_stratum desc, stratum;

-- next: what to read next, in order
select run_id || '/' || task_id || ':' || rollout_index as citation
from reading_plan
where
    benchmark = $benchmark
    and case when $run is null then scope = 'benchmark' else scope = 'run' and run_id = $run end
    and place <= $size
    and not is_read
order by place;

-- outside: how many rollouts were read that the plan does not count
select count(distinct (run_id, task_id, rollout_index)) as n_outside
from rollout_labels
inner join (select run_id from runs where benchmark = $benchmark) using (run_id)
anti join (
    from reading_plan
    where is_counted and scope = if($run is null, 'benchmark', 'run')
) as counted using (run_id, task_id, rollout_index)
where $run is null or run_id = $run;

-- seed: the seed of the plan
select seed from staging.reading_seeds where benchmark = ?;

-- shares: modes and causes that were read, with their share of all failures
select
    kind,
    value,
    n_with,
    n_read,
    n_failures,
    share,
    ci_low,
    ci_high,
    n_with_outside,
    said_by,
    citations
from read_shares
where benchmark = $benchmark and run_id is not distinct from $run
order by kind desc, share desc nulls last, n_with desc, n_with_outside desc, value;

-- agreement: what persons who read the same rollouts say, pair by pair of them
with given as (
    select
        run_id,
        task_id,
        rollout_index,
        said_by,
        unnest(['mode', 'cause']) as kind,
        unnest([mode, cause]) as value
    from rollout_labels
    semi join (from runs where benchmark = ?) using (run_id)
)
select
    kind,
    firsts.said_by as first_by,
    seconds.said_by as second_by,
    firsts.value as first_value,
    seconds.value as second_value,
    count(*) as n
from given as firsts
inner join given as seconds using (run_id, task_id, rollout_index, kind)
where first_by < second_by and first_value is not null and second_value is not null
group by all
order by kind desc, first_by, second_by, first_value, second_value;

-- keys: fields of the row that are named as a key of answers
select field.key || ': ' || left(json_extract_string(field.value, '$'), 400)
from rollouts, json_each(verifier) as field
where
    run_id = ? and task_id = ? and rollout_index = ?
    and is_key_name(field.key)
    and field.type in ('VARCHAR', 'BIGINT', 'UBIGINT', 'DOUBLE', 'BOOLEAN')
order by field.key;

-- steps: the tool calls of a rollout in order
select
    calls.seq,
    calls.tool,
    coalesce(bool_or(results.is_error), false) as is_error
from (
    select
        *,
        -- An id may be used again: a result belongs to the last call before it.
        lead(seq) over (partition by call_id order by seq) as next_seq
    from events
    where run_id = $1 and task_id = $2 and rollout_index = $3 and kind = 'tool_call'
) as calls
left join (
    from events
    where run_id = $1 and task_id = $2 and rollout_index = $3 and kind = 'tool_result'
) as results
    on results.call_id = calls.call_id
    and results.seq > calls.seq
    and (calls.next_seq is null or results.seq < calls.next_seq)
group by all
order by calls.seq;

-- asked: what this attempt was asked, where attempts at a task are asked in several ways
select task_prompts.prompt
from rollouts
inner join task_prompts using (run_id, task_id, prompt_sha)
where run_id = ? and task_id = ? and rollout_index = ?;

-- last: the last words of a rollout
select
    seq,
    left(text, 1000) as text
from events
where
    run_id = ? and task_id = ? and rollout_index = ?
    and kind = 'message' and role = 'assistant' and trim(text) <> ''
order by seq desc
limit 1;
