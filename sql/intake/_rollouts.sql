-- One attempt of a run at a task: its reward, its size, and where its row and its texts lie.
-- grain: run_id, task_id, rollout_index
-- kind: table
with
-- Rows whose output says something, and how many tool results of a row report an error.
shown as (
    select
        record_id,
        bool_or(
            kind = 'message'
            and coalesce(role, 'assistant') = 'assistant'
            and regexp_matches(words, '\S')
        ) as is_spoken,
        count(*) filter (where kind = 'tool_result' and is_error) as n_tool_errors
    from raw.events
    where kind in ('message', 'tool_result')
    group by all
),
read as (
    select
        keys.run_id,
        keys.task_id,
        keys.rollout_index,
        records.*,
        texts.verifier,
        shown.n_tool_errors,
        -- A turn is a stretch of the model's own items between results and users' messages.
        regexp_replace(outline, '[cmto]+', 'a', 'g') as turns,
        case when outline is not null then coalesce(shown.is_spoken, false) end as has_text,
        coalesce(
            json_field_count(usage, 'input_tokens'), json_field_count(usage, 'prompt_tokens')
        ) as input_tokens,
        coalesce(
            json_field_count(usage, 'output_tokens'), json_field_count(usage, 'completion_tokens')
        ) as output_tokens,
        -- Plain `cost` of a row may be what its task minimizes; that of its usage is money.
        coalesce(
            json_field_number(usage, 'cost'),
            json_field_number(usage, 'total_cost'),
            case when contains(verifier, 'cost') then coalesce(
                json_field_number(verifier, 'total_cost_usd'),
                json_field_number(verifier, 'cost_usd'),
                json_field_number(verifier, 'total_cost'),
                json_field_number(verifier, 'response_cost')
            ) end
        ) as cost
    from staging.rollout_keys as keys
    inner join staging.records using (record_id)
    inner join raw.texts using (record_id)
    left join shown using (record_id)
    where role = 'rollout'
)
select
    run_id, task_id, rollout_index,
    task_id || ':' || rollout_index as rollout_id,
    reward,
    reward is not null as is_scored,
    reward >= benchmarks.pass_threshold - 1e-9 as is_pass,
    status,
    model,
    agent,
    finish_reason,
    case
        when has_text is not null then
            coalesce(status = 'incomplete', false)
            or coalesce(finish_reason in ('max_output_tokens', 'max_tokens', 'length'), false)
    end as is_truncated,
    contains(outline, 'c') or has_text as has_output,
    case when benchmarks.is_tool_call then contains(outline, 'c') else has_text end as has_action,
    -- A tool's result, or someone else's word after the model's first.
    regexp_matches(outline, 'r|[cmto].*u') as has_feedback,
    -- The outline has one letter for each item of the output.
    length(outline) as n_events,
    coalesce(length(turns) - length(replace(turns, 'a', '')), json_field_count(perf, 'num_turns'))
        as n_turns,
    length(outline) - length(replace(outline, 'c', '')) as n_tool_calls,
    case when outline is not null then coalesce(n_tool_errors, 0) end as n_tool_errors,
    -- Tokens and seconds come from whichever field recorded them; all zero means that nothing was
    -- counted.
    case
        when coalesce(read.input_tokens, 0) + coalesce(read.output_tokens, 0) > 0
            then read.input_tokens
        else json_field_count(perf, 'prompt_tokens')
    end as input_tokens,
    case
        when coalesce(read.input_tokens, 0) + coalesce(read.output_tokens, 0) > 0
            then read.output_tokens
        else json_field_count(perf, 'completion_tokens')
    end as output_tokens,
    coalesce(
        json_field_number(verifier, 'total_run_time'),
        json_field_number(verifier, 'agent_run_time'),
        json_field_number(perf, 'total_latency_ms') / 1000,
        case when created_at > 0 and completed_at >= created_at then completed_at - created_at end
    ) as duration_s,
    case when cost between 0 and 1e12 then cost end as cost,
    case
        when settings.answer_path is null then extracted_answer(verifier)
        else json_as_text(row_field(verifier, reward_components, settings.answer_path))
    end as answer,
    prompt_sha,
    source_file,
    source_line,
    record_id,
    last_message_seq
from read
inner join staging.run_benchmarks as benchmarks using (run_id)
cross join raw.settings
