-- The calls that a task's record lists as expected beside those that an attempt made.
-- Status: made, differs (the closest call has other arguments), refused (so has
-- it, and it was answered with an error), failed (it was made, and answered with an
-- error), fewer (the tool was called, less often than expected), never, unasked (made, and not expected),
-- none (the record lists no call, and none was made).
-- grain: run_id, task_id, rollout_index, call_no
-- looks at: run
-- kind: table
-- needs: staging.calls
with attempts as (
    select
        record_id,
        run_id,
        task_id,
        rollout_index,
        benchmark
    from staging.rollouts
    inner join staging.run_benchmarks using (run_id)
    -- Who never had a turn left out no call.
    where n_turns > 0
),
tools as (
    select distinct
        benchmark,
        tool
    from staging.calls
    inner join attempts using (record_id)
    where tool <> ''
),
-- The fields of each listed object, and those of an object in it: {"action": {"name": ..., ...}}.
item_fields as (
    select
        record_id,
        path,
        item_no,
        unnest(json_keys(item)) as key,
        unnest(json_extract(item, '$.*')) as value
    from staging.entries
    -- Lists of tool definitions are recognised by the schemas in them.
    where item is not null and not contains(item, '"properties"')
),
opened as (
    select
        record_id,
        path,
        item_no,
        '' as within,
        key,
        value
    from item_fields
    union all
    select
        record_id,
        path,
        item_no,
        key as within,
        unnest(json_keys(value)) as key,
        unnest(json_extract(value, '$.*')) as value
    from item_fields
    where starts_with(value, '{')
),
-- Arguments are an object, or the text of one.
valued as (
    select
        attempts.benchmark,
        opened.*,
        json_as_text(value) as text,
        tools.tool is not null as is_tool,
        case
            when starts_with(value, '{') then value::varchar
            when starts_with(value, '"{') and json_valid(text) then text
        end as object
    from opened
    inner join attempts using (record_id)
    left join tools on tools.benchmark = attempts.benchmark and tools.tool = json_as_text(value)
),
-- Lists of objects of which most name a tool that somebody called, with an object of arguments.
shapes as (
    select
        benchmark,
        path,
        within,
        arg_min(key, (-n_tools, key)) filter (where n_tools > 0) as name_key,
        arg_min(key, (-n_objects, key)) filter (where n_objects > 0) as arguments_key,
        max(n_tools) as n_tools,
        max(n_objects) as n_objects
    from (
        select
            benchmark,
            path,
            within,
            key,
            count(*) filter (where is_tool) as n_tools,
            count(object) as n_objects
        from valued
        group by all
    )
    group by all
),
item_counts as (
    select
        benchmark,
        path,
        count(distinct (record_id, item_no)) as n_items
    from valued
    group by all
),
lists as (
    select
        shapes.* exclude (name_key, arguments_key),
        if(is_declared, 'name', name_key) as name_key,
        if(is_declared, 'arguments', arguments_key) as arguments_key
    from (
        select
            *,
            -- What a reader says is expected is so, though nobody calls any of it.
            path = 'expected_calls' and within = '' as is_declared
        from shapes
    ) as shapes
    inner join item_counts using (benchmark, path)
    where is_declared or (2 * n_tools >= n_items and 10 * n_objects >= 9 * n_items)
    qualify row_number() over (partition by benchmark, path order by n_tools desc, within) = 1
),
listed as (
    select
        record_id,
        path,
        item_no,
        max(text) filter (where key = name_key) as tool,
        max(object) filter (where key = arguments_key) as arguments,
        -- A reader says so of a call that the harness itself accepted.
        coalesce(bool_or(key = 'met' and value = 'true'), false) as is_met,
        -- And of one in an attempt that left everything in the state that is expected.
        coalesce(bool_or(key = 'same_state' and value = 'true'), false) as is_same_state
    from valued
    inner join lists using (benchmark, path, within)
    group by record_id, path, item_no
),
-- The order of keys, the spacing, and what is null do not matter.
made as (
    select
        record_id,
        calls.seq,
        calls.tool,
        calls.is_error,
        comparable_arguments(events.arguments) as arguments
    from staging.calls
    inner join raw.events using (record_id, seq)
    where record_id in (select record_id from listed)
        or record_id in (select record_id from staging.entries where kind = 'EMPTY' and path in (select path from lists))
),
wanted as (
    select
        record_id,
        path,
        item_no,
        tool,
        comparable_arguments(arguments) as arguments,
        is_met,
        is_same_state
    from listed
    where tool is not null
),
-- What was done, not what was asked for: a list that differs between attempts of one task, or whose
-- calls were all made in nearly every attempt.
logs as (
    select
        benchmark,
        path
    from (
        select
            attempts.benchmark,
            wanted.path,
            attempts.task_id,
            record_id,
            md5(string_agg(wanted.tool || ' ' || wanted.arguments, ',' order by item_no)) as calls_key,
            bool_and(made.seq is not null) as is_made
        from wanted
        inner join attempts using (record_id)
        left join (
            select
                record_id,
                tool,
                arguments,
                min(seq) as seq
            from made
            group by all
        ) as made using (record_id, tool, arguments)
        group by attempts.benchmark, wanted.path, attempts.task_id, record_id
    )
    group by benchmark, path
    having
        count(distinct (task_id, calls_key)) > count(distinct task_id)
        or count(*) filter (where is_made) >= 0.97 * count(*)
),
-- One list of a benchmark says what is expected: the longest, of equal ones the reader's own, which is
-- empty, not missing, where nothing is expected.
chosen as (
    select
        benchmark,
        path
    from lists
    anti join logs using (benchmark, path)
    inner join item_counts using (benchmark, path)
    qualify row_number() over (partition by benchmark order by n_items desc, path <> 'expected_calls', path) = 1
),
asked as (
    select
        attempts.benchmark,
        record_id,
        bool_and(entries.kind = 'EMPTY') as is_nothing
    from staging.entries
    inner join attempts using (record_id)
    inner join chosen using (benchmark, path)
    where entries.kind in ('EMPTY', 'ARRAY') and entries.item_no = 0
    group by all
),
-- The same call may be expected twice: each expectation is met by a call of its own.
expected as (
    select
        record_id,
        item_no as expected_no,
        tool,
        arguments,
        is_met,
        is_same_state,
        row_number() over (partition by record_id, tool, arguments order by item_no) as nth
    from wanted
    inner join attempts using (record_id)
    semi join chosen using (benchmark, path)
),
done as (
    select
        made.*,
        row_number() over (partition by record_id, tool, arguments order by is_error, seq) as nth
    from made
    semi join asked using (record_id)
),
matched as (
    select
        expected.*,
        done.seq,
        done.is_error
    from expected
    left join done
        on done.record_id = expected.record_id
        and done.tool = expected.tool
        and done.arguments = expected.arguments
        and done.nth = expected.nth
),
beyond as (
    select
        done.*,
        json_fields(arguments) as fields
    from done
    anti join (from matched where seq is not null) using (record_id, seq)
    qualify row_number() over (partition by record_id, tool order by is_error, seq) <= 50
),
missing as (
    select
        *,
        json_fields(arguments) as fields
    from matched
    where seq is null
    qualify row_number() over (partition by record_id, tool order by expected_no) <= 50
),
-- How far a call of the tool has what is expected: arguments that are equal, then those that hold it and more.
pairs as (
    select
        record_id,
        missing.tool,
        missing.expected_no,
        beyond.seq,
        beyond.is_error,
        argument_differences(missing.fields, beyond.fields, 60) as differing,
        len(list_filter(
            map_keys(missing.fields),
            lambda name: missing.fields[name] is not distinct from beyond.fields[name]
        )) as n_alike,
        len(list_filter(
            map_keys(missing.fields),
            lambda name: coalesce(json_contains(beyond.fields[name], missing.fields[name]), false)
        )) as n_holding,
        not beyond.is_error and n_holding = cardinality(missing.fields) as is_holding,
        -- What else it says changed nothing in some attempt, so it does not in others either.
        is_holding
        and bool_or(is_holding and missing.is_same_state) over (partition by benchmark, missing.tool) as is_same
    from missing
    inner join beyond using (record_id, tool)
    inner join attempts using (record_id)
),
nearest as (
    select *
    from pairs
    qualify
        row_number() over (
            partition by record_id, expected_no
            order by is_error, n_alike desc, n_holding desc, seq
        ) = 1
        and row_number() over (
            partition by record_id, seq
            order by n_alike desc, n_holding desc, expected_no
        ) = 1
),
-- Where two expectations are nearest to one call, the other has the next call that nothing expects; one that
-- was refused, or that repeats an expected call, is none.
remaining_expected as (
    select
        record_id,
        tool,
        expected_no,
        row_number() over (partition by record_id, tool order by expected_no) as nth
    from missing
    anti join nearest using (record_id, expected_no)
),
remaining_calls as (
    select
        record_id,
        tool,
        seq,
        row_number() over (partition by record_id, tool order by seq) as nth
    from beyond
    anti join nearest using (record_id, seq)
    anti join expected using (record_id, tool, arguments)
    where not is_error
),
closest as (
    from nearest
    union all by name
    select pairs.*
    from pairs
    inner join remaining_expected using (record_id, tool, expected_no)
    inner join remaining_calls using (record_id, tool, seq, nth)
),
every as (
    select
        record_id,
        expected_no,
        coalesce(matched.seq, closest.seq) as seq,
        matched.tool,
        case
            when matched.is_error then 'failed'
            when matched.seq is not null then 'made'
            when is_met then if(coalesce(closest.is_error, false), 'failed', 'made')
            when closest.is_same then 'made'
            when closest.is_error then 'refused'
            when closest.seq is not null then 'differs'
            when called.tool is not null then 'fewer'
            else 'never'
        end as status,
        if(is_met or is_same, [], coalesce(list_transform(differing, lambda each: each.name), [])) as differing_keys,
        case
            when coalesce(matched.seq is not null and not matched.is_error, false) or is_met or is_same then null
            when len(differing) > 0 then array_to_string(
                list_transform(
                    differing[:6],
                    lambda each: each.name || ': expected ' || coalesce(each.one, 'nothing')
                        || ', got ' || coalesce(each.other, 'nothing')
                ),
                '; '
            )
            else left(arguments, 300)
        end as detail
    from matched
    left join closest using (record_id, expected_no)
    left join (select distinct record_id, tool from done) as called
        on called.record_id = matched.record_id and called.tool = matched.tool
    union all by name
    -- A call that failed changed nothing.
    select
        record_id,
        seq,
        tool,
        'unasked' as status,
        []::varchar[] as differing_keys,
        left(arguments, 300) as detail
    from beyond
    anti join closest using (record_id, seq)
    where not is_error
    union all by name
    select
        record_id,
        'none' as status,
        []::varchar[] as differing_keys
    from asked
    anti join done using (record_id)
    where is_nothing
),
-- Tools that change state, where the harness or the tools' definitions declare them. The runs of a
-- benchmark share its tools, whichever of them declares them.
writing as (
    select distinct
        benchmark,
        unnest(string_split(value, ', ')) as tool
    from staging.run_settings
    inner join staging.run_benchmarks using (run_id)
    where name = 'write_tools'
)
select
    run_id,
    task_id,
    rollout_index,
    row_number() over (partition by record_id order by expected_no nulls last, seq nulls first) as call_no,
    every.status,
    left(every.tool, 200) as tool,
    case when declared.benchmark is not null then writing.tool is not null end as is_write,
    every.expected_no,
    every.seq,
    every.differing_keys,
    every.detail
from every
inner join attempts using (record_id)
left join (select distinct benchmark from writing) as declared using (benchmark)
left join writing using (benchmark, tool)
