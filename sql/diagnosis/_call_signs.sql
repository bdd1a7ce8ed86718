-- What a rollout's calls show: how they end, the changes its task expects, habits of passes, guesses.
-- Of a rollout without calls, of whose task none are known, there is no row.
-- grain: record_id
-- kind: step
-- needs: (select 1 from staging.calls union all select 1 from main.expected_calls)
with rollouts as (
    select
        record_id, run_id, task_id, rollout_index, benchmark,
        is_pass,
        is_scored and not is_pass as is_failure
    from staging.rollouts
    inner join staging.run_benchmarks using (run_id)
),
-- Tools whose calls change something.
changing as (
    select distinct benchmark, tool
    from main.expected_calls
    inner join staging.run_benchmarks using (run_id)
    where is_write
),
-- Of changes that were made otherwise than expected both are counted: one is missing, one beyond.
actions as (
    select
        run_id, task_id, rollout_index,
        count(*) filter (where is_write and expected_no is not null) as n_expected_actions,
        count(*) filter (where is_write and status = 'made') as n_matched_actions,
        count(*) filter (where status in ('differs', 'unasked')) as n_unexpected_calls,
        min(seq) filter (where status in ('differs', 'unasked')) as unexpected_call_seq,
        min(call_key) filter (where status in ('differs', 'unasked')) as unexpected_call_key
    from main.expected_calls
    group by all
),
calls as (
    select
        calls.* exclude (call_key, argument_names, addresses, message),
        hash(tool, arguments_key) as call,
        -- Changed something, and worked; where nothing says which tools change something, any may.
        not is_error and result_seq is not null
            and (listing.benchmark is null or changing.tool is not null) as is_counted
    from staging.calls
    inner join rollouts using (record_id)
    left join (select distinct benchmark from changing) as listing using (benchmark)
    left join changing using (benchmark, tool)
),
counts as (
    select
        * exclude (in_order),
        case
            when n_errors > 0 then list_max(list_transform(
                regexp_extract_all(
                    array_to_string(
                        list_transform(in_order, lambda call: if(call.is_error, 'e', '.')), ''
                    ),
                    'e+'
                ),
                lambda streak: length(streak)
            ))
        end as longest_error_streak,
        -- All calls under one number: equal for equal calls with equal ends.
        hash(list_transform(in_order, lambda call: call.key)) as calls_key
    from (
        select
            record_id,
            cast(histogram(tool) as map(varchar, bigint)) as calls_by_tool,
            count(*) - count(distinct call) as n_repeated_calls,
            count(*) filter (where result_seq is null) as n_unanswered_calls,
            count(*) filter (where is_malformed) as n_malformed_calls,
            count(*) filter (where is_counted) as n_counted_calls,
            count(*) filter (where is_unknown_tool) as n_unknown_tool_calls,
            count(*) filter (where is_error) as n_errors,
            arg_max(signature, seq) filter (where is_error) as error_signature,
            arg_max(is_error, seq) as ends_in_error,
            arg_max_null(if(is_error or result_seq is null, call, null), seq) as failing_end,
            max(seq) as last_call_seq,
            max(result_seq) as last_result_seq,
            coalesce(max(seq) filter (where is_counted), 0) as last_counted_seq,
            list({key: hash(call, is_error), is_error: is_error} order by seq) as in_order
        from calls
        group by all
    )
),
-- What came before the last call that counts was got over.
finals as (
    select
        record_id,
        count(*) filter (where is_error) as n_final_errors,
        count(*) filter (where is_error and call = failing_end) as n_same_final_errors,
        min(seq, 2) filter (where is_error and call = failing_end)[2] as repeated_error_seq,
        max(result_seq) filter (where is_error) as final_error_seq,
        min(seq) filter (
            where is_malformed and (is_error or result_seq is null and seq = last_call_seq)
        ) as malformed_seq,
        min(seq) filter (where is_unknown_tool) as unknown_tool_seq
    from calls
    inner join counts using (record_id)
    where seq > last_counted_seq and (is_error or is_malformed)
    group by all
),
-- What one pass does may be chance.
mixed as (
    select benchmark, task_id, count(*) filter (where is_pass) as n_passes
    from rollouts
    group by all
    having n_passes > 1 and count(*) filter (where is_failure) > 0
),
-- The tools and arguments that a rollout uses; the tool itself is the argument ''.
used as materialized (
    select
        record_id, benchmark, task_id,
        is_pass, tool, argument,
        min(seq) as seq
    from (
        select
            rollouts.*,
            tool, seq,
            unnest(list_append(argument_names, '')) as argument
        from staging.calls
        inner join rollouts using (record_id)
        semi join mixed using (benchmark, task_id)
        -- A pass through a failing call proves nothing about it.
        where is_pass and not is_error and tool <> '' or is_failure and not is_malformed
    )
    group by all
),
habits as (
    select benchmark, task_id, tool, argument
    from used
    inner join mixed using (benchmark, task_id)
    where is_pass
    group by benchmark, task_id, tool, argument, n_passes
    having count(*) = n_passes
),
-- Calls, and arguments of calls, that a failing rollout leaves out though every pass has them.
missing as (
    select failing.record_id, habits.tool, habits.argument, tools.seq as tool_seq
    from (from rollouts where is_failure) as failing
    inner join habits using (benchmark, task_id)
    left join used as tools
        on tools.record_id = failing.record_id
        and tools.tool = habits.tool
        and tools.argument = ''
    anti join used
        on used.record_id = failing.record_id
        and used.tool = habits.tool
        and used.argument = habits.argument
),
missing_signs as (
    select
        record_id,
        left(min(tool) filter (where argument = ''), 100) as missing_call,
        left(
            arg_min(tool || '.' || argument, (tool_seq, tool, argument))
                filter (where argument <> '' and tool_seq is not null),
            200
        ) as missing_argument,
        min(tool_seq) filter (where argument <> '') as missing_argument_seq
    from missing
    group by all
),
-- Addresses that calls are about, and those in all that the rollout had read by then.
written as (
    select
        record_id, seq,
        unnest(addresses) as address,
        lower(split_part(address, '@', 1)) as name
    from staging.calls
    where len(addresses) > 0
),
-- Asked only of rollouts with such calls: texts are long, and where there are none, none is read.
sources as (
    select
        record_id,
        0 as seq,
        concat_ws(' ', prompts.system_prompt, prompts.prompt) as text
    from staging.rollouts
    semi join written using (record_id)
    inner join main.task_prompts as prompts using (run_id, task_id, prompt_sha)
    union all
    select record_id, seq, coalesce(words, text) as text
    from raw.events
    inner join (select record_id, max(seq) as last_seq from written group by all) using (record_id)
    where seq < last_seq and (kind = 'tool_result' or (kind = 'message' and role in ('user', 'system')))
),
seen as (
    select
        record_id,
        lower(split_part(address, '@', 1)) as name,
        min(seq) as seq
    from (
        select
            record_id, seq,
            unnest(case when contains(text, '@') then list_distinct(regexp_extract_all(
                text, '[A-Za-z0-9][A-Za-z0-9._+-]*@[A-Za-z0-9-]+[.][A-Za-z0-9.-]*[A-Za-z0-9]'
            )) end) as address
        from sources
    )
    group by all
),
-- Each unseen address is compared with each that was read: of lists of thousands nothing is said.
unseen as (
    select written.*
    from written
    left join seen using (record_id, name)
    left join (select record_id, count(*) as n_seen from seen group by all) using (record_id)
    where seen.seq is null or seen.seq >= written.seq
    qualify count(*) over (partition by record_id) * coalesce(n_seen, 0) <= 20000
),
-- Nearly one that was read: a slip of the pen, not another name.
slips as (
    select distinct unseen.record_id, unseen.seq, unseen.name
    from unseen
    inner join seen using (record_id)
    where
        seen.seq < unseen.seq
        and (
            starts_with(seen.name, unseen.name)
            or starts_with(unseen.name, seen.name)
            or levenshtein(seen.name, unseen.name) <= 2
        )
),
guesses as (
    select record_id, min(seq) as guessed_seq
    from unseen
    anti join slips using (record_id, seq, name)
    group by all
)
select
    record_id,
    counts.* exclude (record_id, n_errors, failing_end, last_call_seq, last_counted_seq),
    finals.* exclude (record_id),
    actions.* exclude (run_id, task_id, rollout_index),
    missing_signs.* exclude (record_id),
    guessed_seq
from rollouts
left join counts using (record_id)
left join finals using (record_id)
left join actions using (run_id, task_id, rollout_index)
left join missing_signs using (record_id)
left join guesses using (record_id)
where coalesce(counts.record_id, missing_signs.record_id, n_expected_actions) is not null
