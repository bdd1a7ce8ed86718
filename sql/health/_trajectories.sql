-- The recorded trajectory of each row that has one, and what its gaps leave to be judged.
-- grain: record_id
-- kind: table
with
-- Most rows have none, and a join would hold all of them at once.
parsed as (
    select
        record_id,
        is_trajectory(trajectory) as is_readable,
        trajectory_parts(trajectory) as parts
    from raw.records
    where trajectory is not null
),
opened as (
    select
        record_id,
        is_readable,
        trajectory_gaps(parts.gaps) as gaps,
        trajectory_invocations(parts.invocations) as invocations,
        trajectory_turns(parts.turns) as turns,
        trajectory_calls(parts.model_calls) as calls,
        trajectory_tools(parts.tool_calls) as tools
    from parsed
),
judged as (
    select
        *,
        is_readable and not any_matches(gaps, '^trajectory_projection_failed$') as is_observed,
        any_matches(
            gaps,
            '^(model_calls_unavailable|model_call_capture_incomplete|model_calls?_.*unreadable)$'
        ) as has_call_gap
    from opened
)
select
    record_id,
    is_readable,
    is_observed,
    is_observed and turns is not null and not any_matches(gaps, '^turns_unavailable$')
        as has_turns,
    is_observed and calls is not null and not has_call_gap as has_calls,
    -- References that the collector could not resolve, unless it lost calls anyway.
    is_observed
        and not has_call_gap
        and any_matches(gaps, '^model_call_reference_(unmatched|ambiguous|conflict)$')
        as has_reference_gap,
    gaps,
    invocations,
    turns,
    calls,
    tools
from judged
