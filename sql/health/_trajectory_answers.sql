-- A trajectory beside the response of its row: the calls of tools, and the last words.
-- grain: record_id
-- kind: table
with rows_read as (
    select
        trajectories.record_id,
        trajectories.has_turns,
        any_matches(trajectories.gaps, '^tool_calls?_.*(unavailable|incomplete|unreadable)$')
            as lacks_tools,
        records.outline,
        regexp_replace(trim(coalesce(records.final_text, '')), '\s+', ' ', 'g') as final_text
    from staging.trajectories
    inner join staging.records using (record_id)
    where trajectories.is_observed
),
tools as (
    select
        tools.record_id,
        sorted_list(tools.tool) as tools,
        count(*) as n_tools,
        count(tools.tool) as n_named
    from staging.trajectory_tools as tools
    left join staging.subagents using (record_id, invocation_id)
    where subagents.record_id is null
    group by tools.record_id
),
calls as (
    select
        events.record_id,
        sorted_list(events.tool) as tools,
        count(*) as n_calls
    from raw.events
    inner join rows_read using (record_id)
    where events.kind = 'tool_call'
    group by events.record_id
),
answers as (
    select
        record_id,
        regexp_replace(trim(answer), '\s+', ' ', 'g') as answer
    from staging.trajectory_turns
    where is_root and rank_from_last = 1
)
select
    rows_read.record_id,
    coalesce(tools.n_tools, 0) as n_tools,
    coalesce(calls.n_calls, 0) as n_calls,
    -- A list without a call may not have been kept; items of other kinds may be calls.
    coalesce(
        not rows_read.lacks_tools
        and not regexp_matches(rows_read.outline, 'o')
        and (tools.n_tools > 0 or calls.n_calls is null),
        false
    ) as can_compare_calls,
    coalesce(tools.n_tools, 0) <> coalesce(calls.n_calls, 0)
        or coalesce(tools.n_named = tools.n_tools and tools.tools <> calls.tools, false)
        as has_other_calls,
    coalesce(
        rows_read.has_turns
        and (
            coalesce(answers.answer, '') <> ''
            or rows_read.final_text = ''
            or not regexp_matches(rows_read.outline, 'm$')
        ),
        false
    ) as can_compare_answer,
    rows_read.outline is not null
        and coalesce(answers.answer, '') <> ''
        and (
            rows_read.final_text = ''
            or (
                strpos(rows_read.final_text, answers.answer) = 0
                and strpos(answers.answer, rows_read.final_text) = 0
            )
        ) as has_other_answer,
    left(answers.answer, 80) as answer
from rows_read
left join tools using (record_id)
left join calls using (record_id)
left join answers using (record_id)
