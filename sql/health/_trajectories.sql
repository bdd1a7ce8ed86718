-- What each recorded trajectory shows of its rollout: which checks apply, and their findings.
-- grain: record_id
-- looks at: rollout
-- kind: step
-- needs: raw.records where trajectory is not null
-- computed by: pipeline.analysis.trajectories.trajectories in batches
-- columns: record_id, has_turns, has_calls, n_owned, n_successful, is_bound, has_references, has_cut_responses, has_order, has_sums, has_answers, findings
with recorded as (from raw.records where trajectory is not null),
responses as (
    select
        record_id,
        list(tool order by tool) as response_tools
    from raw.events
    semi join recorded using (record_id)
    where kind = 'tool_call'
    group by all
)
-- What the function reads of each record; the columns of the relation are what it returns.
select
    record_id,
    recorded.trajectory,
    records.outline,
    final_texts.final_text,
    coalesce(responses.response_tools, []) as response_tools,
    coalesce(
        json_field_count(records.usage, 'input_tokens'),
        json_field_count(records.usage, 'prompt_tokens')
    ) as input_tokens,
    coalesce(
        json_field_count(records.usage, 'output_tokens'),
        json_field_count(records.usage, 'completion_tokens')
    ) as output_tokens
from recorded
inner join staging.records using (record_id)
left join staging.final_texts using (record_id)
left join responses using (record_id)
