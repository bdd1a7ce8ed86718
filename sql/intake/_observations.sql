-- What a harness observed of an attempt from outside: agents it started, compactions, tools, sandboxes.
-- grain: record_id
-- looks at: rollout
-- kind: table
-- needs: raw.records where agent_observations is not null or trajectory is not null
with opened as (
    select
        record_id,
        agent_observations is not null as has_records,
        -- Observations of one attempt; a trajectory repeats those of agents and of tools.
        coalesce(
            try(json_transform(agent_observations, '{"records": [{
                "kind": "VARCHAR", "invocation_id": "VARCHAR", "parent_invocation_id": "VARCHAR",
                "tool_call_id": "VARCHAR", "status": "VARCHAR", "duration_ms": "JSON",
                "role": "VARCHAR", "outcome": "VARCHAR", "exit_code": "JSON"
            }]}')).records,
            []
        ) as records,
        try(json_transform(trajectory, '{
            "invocations": [{
                "invocation_id": "VARCHAR", "parent_invocation_id": "VARCHAR", "duration_ms": "JSON"
            }],
            "tool_calls": [{
                "tool_call_id": "VARCHAR", "status": "VARCHAR", "duration_ms": "JSON"
            }]
        }')) as trajectory
    from raw.records
    where agent_observations is not null or trajectory is not null
),
sorted as (
    select
        record_id,
        has_records,
        coalesce(
            nullif(list_transform(
                list_filter(records, lambda entry: entry.kind = 'agent_invocation'),
                lambda entry: {
                    'parent': entry.parent_invocation_id, 'duration_ms': entry.duration_ms
                }
            ), []),
            list_transform(trajectory.invocations, lambda entry: {
                'parent': entry.parent_invocation_id, 'duration_ms': entry.duration_ms
            })
        ) as agents,
        coalesce(
            nullif(list_transform(
                list_filter(records, lambda entry: entry.kind = 'tool_call'),
                lambda entry: {
                    'call_id': entry.tool_call_id,
                    'status': lower(entry.status),
                    'duration_s': json_as_number(entry.duration_ms) / 1000
                }
            ), []),
            list_transform(trajectory.tool_calls, lambda entry: {
                'call_id': entry.tool_call_id,
                'status': lower(entry.status),
                'duration_s': json_as_number(entry.duration_ms) / 1000
            })
        ) as tool_calls,
        list_filter(records, lambda entry: entry.kind = 'context_compaction') as compactions,
        list_filter(records, lambda entry: entry.kind = 'sandbox') as sandboxes
    from opened
)
select
    record_id,
    -- What nobody observed is unknown, not zero.
    case
        when length(agents) > 0
            then length(list_filter(agents, lambda agent: agent.parent is not null))
    end as n_subagents,
    case when has_records then length(compactions) end as n_compactions,
    case
        when length(tool_calls) > 0
            then length(list_filter(tool_calls, lambda call: call.status = 'timeout'))
    end as n_tool_timeouts,
    nullif(array_to_string(list_sort(list_transform(sandboxes, lambda sandbox:
        concat_ws(' ', sandbox.role, lower(sandbox.outcome))
        || coalesce(', exit code ' || json_as_integer(sandbox.exit_code), '')
    )), '; '), '') as sandbox_outcome,
    -- Of the one agent that no other started.
    case
        when length(list_filter(agents, lambda agent: agent.parent is null)) = 1 then json_as_number(
            list_filter(agents, lambda agent: agent.parent is null)[1].duration_ms
        ) / 1000
    end as duration_s,
    tool_calls
from sorted
