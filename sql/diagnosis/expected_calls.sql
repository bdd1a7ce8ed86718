-- The calls a task expects beside those an attempt made: made, made otherwise, missing, or not asked for.
-- grain: run_id, task_id, rollout_index, call_no
-- kind: table
-- needs: raw.texts where verifier like '%"expected_actions"%'
with attempts as (
    select record_id, run_id, task_id, rollout_index, benchmark, is_scored and is_pass as is_pass
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
        select run_id, task_id, min(verifier) as verifier
        from attempts
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
        coalesce(action.kwargs, action.arguments) as arguments,
        expected_no
    from (
        select
            run_id, task_id,
            unnest(actions) as action,
            generate_subscripts(actions, 1) as expected_no
        from listed
    )
    inner join staging.run_benchmarks using (run_id)
    where tool is not null
),
words as (
    select
        string_agg(word, '|') filter (where role = 'reads') as reads,
        string_agg(word, '|') filter (where role = 'writes') as writes
    from raw.record_words
),
-- By their names they do more than look; what a task expects may be named in any way.
tools as (
    select benchmark, tool
    from (
        select benchmark, tool, true as is_expected
        from expected
        union all
        select distinct benchmark, tool, false as is_expected
        from staging.calls
        inner join attempts using (record_id)
        semi join expected using (benchmark)
    )
    cross join words
    group by all
    having coalesce(tool_kind(tool, any_value(reads), any_value(writes)) = 'write', bool_or(is_expected))
),
-- What is expected and what was done, with arguments for comparing: keys in order on every level,
-- nothing for null; text as it is where it is no object.
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
            cast(arguments as varchar) as arguments,
            expected_no,
            false as is_error
        from expected
        union all by name
        select
            attempts.* exclude (rollout_index, is_pass),
            seq, calls.tool, events.arguments, calls.is_error
        from staging.calls
        inner join attempts using (record_id)
        semi join listed using (run_id, task_id)
        semi join (from tools union from expected select benchmark, tool) using (benchmark, tool)
        inner join raw.events using (record_id, seq)
    )
),
-- The same call may be asked for twice. An action expected once is done by the first such call: the
-- next one is beyond.
numbered as materialized (
    select
        *,
        md5(tool || ' ' || arguments) as call_key,
        row_number() over (
            partition by run_id, task_id, record_id, tool, arguments, is_error order by seq, expected_no
        ) as nth
    from canonical
),
wanted as materialized (
    select
        attempts.record_id,
        expected.* exclude (record_id, seq, is_error),
        made.seq
    from (from numbered where expected_no is not null) as expected
    inner join attempts using (run_id, task_id)
    left join (from numbered where not is_error) as made
        on made.record_id = attempts.record_id
        and made.tool = expected.tool
        and made.arguments = expected.arguments
        and made.nth = expected.nth
),
-- Calls that are none of the expected ones.
beyond as (
    select numbered.* exclude (expected_no)
    from numbered
    anti join (from wanted where seq is not null) using (record_id, seq)
    where record_id is not null
),
-- Tools whose calls change something: not those that passes call at will.
changing as (
    from tools
    except
    select benchmark, tool
    from (
        select benchmark, tool, record_id, bool_or(beyond.seq is not null) as is_beyond
        from numbered
        inner join (from attempts where is_pass) using (benchmark, record_id)
        left join beyond using (benchmark, tool, record_id, seq)
        where not numbered.is_error
        group by all
    )
    group by all
    having count(*) filter (where is_beyond) * 4 > count(*)
),
-- A change that was made otherwise: of the calls of its tool the one with most arguments alike. Of
-- very many the first 50 are compared.
missing as (
    select
        *,
        json_fields(arguments) as fields
    from wanted
    semi join changing using (benchmark, tool)
    where seq is null
    qualify row_number() over (partition by record_id, tool order by expected_no) <= 50
),
others as (
    select
        *,
        json_fields(arguments) as fields
    from beyond
    semi join changing using (benchmark, tool)
    qualify row_number() over (partition by record_id, tool order by is_error, seq) <= 50
),
paired as (
    select
        record_id, missing.expected_no, others.seq, others.is_error,
        others.arguments as other_arguments,
        others.call_key as made_key,
        argument_differences(missing.fields, others.fields, 60) as differing,
        len(list_filter(
            map_keys(missing.fields),
            lambda name: missing.fields[name] is not distinct from others.fields[name]
        )) as n_alike
    from missing
    inner join others using (record_id, tool)
    qualify
        row_number() over (
            partition by record_id, missing.expected_no order by others.is_error, n_alike desc, others.seq
        ) = 1
        and row_number() over (
            partition by record_id, others.seq order by n_alike desc, missing.expected_no
        ) = 1
),
found as (
    select
        record_id, expected_no,
        coalesce(wanted.seq, paired.seq) as seq,
        tool,
        case
            when wanted.seq is not null then 'made'
            when paired.is_error then 'failed'
            when paired.seq is not null then 'differs'
            else 'missing'
        end as status,
        -- Of what was made otherwise, the call that was made.
        coalesce(made_key, wanted.call_key) as call_key,
        coalesce(list_transform(differing, lambda each: each.name), []) as differing_keys,
        case
            when wanted.seq is not null then null
            when len(differing) > 0 then array_to_string(
                list_transform(
                    differing[:6],
                    lambda each: each.name || ': expected ' || coalesce(each.one, 'nothing')
                        || ', got ' || coalesce(each.other, 'nothing')
                ),
                '; '
            )
            when differing is null and other_arguments is not null then
                'expected ' || cut_around(arguments, other_arguments, 100, 100)
                || ', got ' || cut_around(other_arguments, arguments, 100, 100)
            else left(arguments, 300)
        end as detail
    from wanted
    left join paired using (record_id, expected_no)
    union all by name
    -- Calls in error change nothing, and who looks is not to be asked.
    select
        record_id, seq, tool,
        'unasked' as status,
        call_key,
        []::varchar[] as differing_keys,
        left(arguments, 300) as detail
    from others
    anti join paired using (record_id, seq)
    where not is_error
    union all by name
    -- Nothing is expected: of an attempt that changed nothing too there is a row.
    select
        record_id,
        'none' as status,
        []::varchar[] as differing_keys
    from attempts
    inner join listed using (run_id, task_id)
    where len(actions) = 0
)
select
    run_id, task_id, rollout_index,
    row_number() over (partition by record_id order by expected_no, seq nulls first) as call_no,
    found.status,
    left(found.tool, 200) as tool,
    changing.tool is not null as is_write,
    -- What was changed comes before what was left out; a call in error changed nothing.
    is_write and status <> 'made' and row_number() over (
        partition by record_id, is_write and status <> 'made'
        order by status = 'missing', status = 'failed', seq, expected_no
    ) = 1 as is_first,
    found.expected_no, found.seq, found.differing_keys, found.detail, found.call_key
from found
inner join attempts using (record_id)
left join changing on changing.benchmark = attempts.benchmark and changing.tool = found.tool
