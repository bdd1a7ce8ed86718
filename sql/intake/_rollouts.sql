-- One attempt of a run at a task: its reward, its size, and where its row and its texts lie.
-- grain: run_id, task_id, rollout_index
-- kind: table
with records as (
    select records.*, verifier
    from staging.records
    inner join raw.texts using (record_id)
    where role = 'rollout'
),
spoken as (
    select distinct record_id
    from raw.events
    where
        kind = 'message'
        and coalesce(role, 'assistant') = 'assistant'
        and regexp_matches(words, '\S')
),
-- What the output of a rollout shows: its length, calls, text, and whether anything answered them.
signs as materialized (
    select
        record_id,
        -- The outline has one letter for each item of the output.
        length(outline) as n_events,
        length(regexp_replace(outline, '[^c]', '', 'g')) as n_tool_calls,
        -- A turn is a stretch of the model's own items between results and users' messages.
        length(regexp_replace(regexp_replace(outline, '[cmto]+', 'a', 'g'), '[^a]', '', 'g')) as n_turns,
        contains(outline, 'c') as has_call,
        case when outline is not null then record_id in (from spoken) end as has_text,
        -- A tool's result, or someone else's word after the model's first.
        regexp_matches(outline, 'r|[cmto].*u') as has_feedback
    from records
),
read as (
    select
        record_id,
        coalesce(
            json_field_count(usage, 'input_tokens'), json_field_count(usage, 'prompt_tokens')
        ) as input_tokens,
        coalesce(
            json_field_count(usage, 'output_tokens'), json_field_count(usage, 'completion_tokens')
        ) as output_tokens,
        json_field_count(perf, 'prompt_tokens') as perf_input_tokens,
        json_field_count(perf, 'completion_tokens') as perf_output_tokens,
        json_field_count(perf, 'num_turns') as perf_turns,
        coalesce(
            json_field_number(verifier, 'total_run_time'),
            json_field_number(verifier, 'agent_run_time'),
            json_field_number(perf, 'total_latency_ms') / 1000,
            case when created_at > 0 and completed_at >= created_at then completed_at - created_at end
        ) as duration_s,
        -- Plain `cost` of a row may be what its task minimizes; that of its usage is money.
        coalesce(
            json_field_number(usage, 'cost'),
            json_field_number(usage, 'total_cost'),
            case when contains(verifier, 'cost') then list_filter(
                list_transform(
                    json_extract(
                        verifier,
                        ['$.total_cost_usd', '$.cost_usd', '$.total_cost', '$.response_cost']
                    ),
                    lambda field: json_as_number(field)
                ),
                lambda number: number is not null
            )[1] end
        ) as cost
    from records
),
-- Tokens, turns and seconds of a row, from whichever field recorded them; unknown is null.
measures as (
    select
        read.record_id,
        -- All zero means that nothing was counted.
        case
            when coalesce(read.input_tokens, 0) + coalesce(read.output_tokens, 0) > 0
                then read.input_tokens
            else read.perf_input_tokens
        end as input_tokens,
        case
            when coalesce(read.input_tokens, 0) + coalesce(read.output_tokens, 0) > 0
                then read.output_tokens
            else read.perf_output_tokens
        end as output_tokens,
        coalesce(outlines.n_turns, read.perf_turns) as n_turns,
        outlines.n_tool_calls,
        outlines.n_events,
        read.duration_s,
        case when read.cost between 0 and 1e12 then read.cost end as cost
    from read
    left join signs as outlines using (record_id)
),
-- How many tool results of a row report an error.
tool_errors as (
    select
        record_id,
        count(*) filter (where is_error) as n_tool_errors
    from raw.events
    where kind = 'tool_result'
    group by all
)
select
    keys.run_id,
    keys.task_id,
    keys.rollout_index,
    keys.task_id || ':' || keys.rollout_index as rollout_id,
    records.reward,
    records.reward is not null as is_scored,
    records.reward >= benchmarks.pass_threshold - 1e-9 as is_pass,
    records.status,
    records.model,
    records.agent,
    records.finish_reason,
    case
        when signs.has_text is not null then
            coalesce(records.status = 'incomplete', false)
            or coalesce(records.finish_reason in ('max_output_tokens', 'max_tokens', 'length'), false)
    end as is_truncated,
    signs.has_call or signs.has_text as has_output,
    case when benchmarks.is_tool_call then signs.has_call else signs.has_text end as has_action,
    signs.has_feedback,
    measures.n_events,
    measures.n_turns,
    measures.n_tool_calls,
    case when measures.n_events is not null then coalesce(tool_errors.n_tool_errors, 0) end
        as n_tool_errors,
    measures.input_tokens,
    measures.output_tokens,
    measures.duration_s,
    measures.cost,
    case
        when settings.answer_path is null then extracted_answer(records.verifier)
        else json_as_text(
            row_field(records.verifier, records.reward_components, settings.answer_path)
        )
    end as answer,
    records.prompt_sha,
    records.source_file,
    records.source_line,
    records.record_id,
    records.last_message_seq
from staging.rollout_keys as keys
inner join records using (record_id)
inner join staging.run_benchmarks as benchmarks using (run_id)
inner join signs using (record_id)
cross join raw.settings
left join measures using (record_id)
left join tool_errors using (record_id)
