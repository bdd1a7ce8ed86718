-- What a rollout's calls show: how they end, the changes its task expects, habits of passes, guesses.
-- Of a rollout without calls, of whose task none are known, there is no row.
-- grain: record_id
-- kind: table
with rollouts as (
    select
        record_id, run_id, task_id, benchmark,
        is_pass,
        is_scored and not is_pass as is_failure
    from staging.rollouts
    inner join staging.run_benchmarks using (run_id)
),
-- Tasks whose rows list the calls that solve them; an empty list says that nothing is to be changed.
listed as (
    select
        run_id, task_id,
        from_json(
            case
                when json_type(verifier, '$.expected_actions') = 'ARRAY'
                    then json_extract(verifier, '$.expected_actions')
            end,
            '[{"name": "VARCHAR", "kwargs": "JSON", "arguments": "JSON"}]'
        ) as actions
    -- One row of a task speaks for all.
    from (
        select
            run_id, task_id,
            min(verifier) as verifier
        from staging.rollouts
        inner join raw.texts using (record_id)
        where contains(verifier, '"expected_actions"')
        group by all
    )
    where actions is not null
),
expected as (
    select
        run_id, task_id, benchmark,
        action.name as tool,
        coalesce(action.kwargs, action.arguments) as arguments
    from (select run_id, task_id, unnest(actions) as action from listed)
    inner join staging.run_benchmarks using (run_id)
    where tool is not null
),
-- What is expected (of no record) and what was done, with arguments for comparing: keys in order on
-- every level, nothing for null; text as it is where it is no object.
canonical as (
    select
        * replace (
            coalesce(
                json_from_entries(list_sort(list_filter(
                    map_entries(json_fields(
                        case when json_valid(arguments) then json_normalize(arguments) end
                    )),
                    lambda entry: entry.value is not null
                ))),
                arguments,
                '{}'
            ) as arguments
        )
    from (
        select
            run_id, task_id, benchmark,
            tool,
            cast(arguments as varchar) as arguments
        from expected
        union all by name
        select
            run_id, task_id, benchmark, record_id, seq,
            calls.tool,
            events.arguments
        from staging.calls
        inner join rollouts using (record_id)
        semi join expected using (benchmark, tool)
        inner join raw.events using (record_id, seq)
        where not calls.is_error
    )
),
-- The same call may be asked for twice. An action expected once is done by the first such call: the
-- next one is beyond.
numbered as materialized (
    select
        *,
        row_number() over (
            partition by run_id, task_id, record_id, tool, arguments order by seq
        ) as nth
    from canonical
),
compared as (
    select
        made.*,
        expected.nth is null as is_beyond
    from numbered as made
    left join (from numbered where record_id is null) as expected
        using (run_id, task_id, tool, arguments, nth)
    where made.record_id is not null
),
-- Tools whose calls change something: expected of a task, and not called at will by those who pass.
changing as (
    select benchmark, tool
    from expected
    -- By its name it does more than look.
    where not regexp_matches(
        lower(tool),
        '(^|[_.:/-])(get|find|search|list|read|look_?up|lookup|check|fetch|query|view|show|describe|count|calculate|compute|think|browse|open|inspect|retrieve)([_.:/-]|$)'
    )
    except
    select benchmark, tool
    from (
        select
            benchmark,
            tool,
            bool_or(is_beyond) as is_beyond
        from compared
        inner join rollouts using (benchmark, record_id)
        where is_pass
        group by benchmark, tool, record_id
    )
    group by all
    having count(*) filter (where is_beyond) * 4 > count(*)
),
expected_counts as (
    select
        run_id, task_id,
        count(changing.tool) as n_expected_actions
    from listed
    left join expected using (run_id, task_id)
    left join changing using (benchmark, tool)
    group by all
),
actions as (
    select
        record_id,
        count(*) filter (where not is_beyond) as n_matched_actions,
        count(*) filter (where is_beyond) as n_unexpected_calls,
        min(seq) filter (where is_beyond) as unexpected_call_seq,
        min(md5(tool || ' ' || arguments)) filter (where is_beyond) as unexpected_call_key
    from compared
    inner join changing using (benchmark, tool)
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
    select
        benchmark, task_id,
        count(*) filter (where is_pass) as n_passes
    from rollouts
    group by all
    having n_passes > 1 and count(*) filter (where is_failure) > 0
),
-- The tools and arguments that a rollout uses; the tool itself is the argument ''.
used as materialized (
    select
        record_id, benchmark, task_id,
        is_pass,
        tool,
        argument,
        min(seq) as seq
    from (
        select
            rollouts.*,
            tool,
            seq,
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
    select
        failing.record_id,
        habits.tool,
        habits.argument,
        tools.seq as tool_seq,
        -- No failing rollout of the run makes the call, of two or more.
        n_failing > 1
            and count(*) over (partition by run_id, task_id, habits.tool, habits.argument) = n_failing
            as is_for_all
    from (
        select
            *,
            count(*) over (partition by run_id, task_id) as n_failing
        from rollouts
        where is_failure
    ) as failing
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
        min(tool) filter (where argument = '' and is_for_all) as missing_step,
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
    semi join written using (record_id)
    where kind = 'tool_result' or (kind = 'message' and role in ('user', 'system'))
),
seen as (
    select
        record_id,
        lower(split_part(address, '@', 1)) as name,
        min(seq) as seq
    from (
        select
            record_id, seq,
            unnest(list_distinct(regexp_extract_all(
                text, '[A-Za-z0-9][A-Za-z0-9._+-]*@[A-Za-z0-9-]+[.][A-Za-z0-9.-]*[A-Za-z0-9]'
            ))) as address
        from sources
        where contains(text, '@')
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
    select distinct
        unseen.record_id,
        unseen.seq,
        unseen.name
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
    select
        record_id,
        min(seq) as guessed_seq
    from unseen
    anti join slips using (record_id, seq, name)
    group by all
)
select
    record_id,
    counts.* exclude (record_id, n_errors, failing_end, last_call_seq, last_counted_seq),
    finals.* exclude (record_id),
    n_expected_actions,
    case when n_expected_actions is not null then coalesce(n_matched_actions, 0) end
        as n_matched_actions,
    case when n_expected_actions is not null then coalesce(n_unexpected_calls, 0) end
        as n_unexpected_calls,
    case when n_expected_actions is not null then unexpected_call_seq end as unexpected_call_seq,
    case when n_expected_actions is not null then unexpected_call_key end as unexpected_call_key,
    missing_signs.* exclude (record_id),
    guessed_seq
from rollouts
left join counts using (record_id)
left join finals using (record_id)
left join expected_counts using (run_id, task_id)
left join actions using (record_id)
left join missing_signs using (record_id)
left join guesses using (record_id)
where coalesce(counts.record_id, missing_signs.record_id, n_expected_actions) is not null
