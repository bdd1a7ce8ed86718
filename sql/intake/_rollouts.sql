-- One attempt of a run at a task: its reward, its size, and where its row and its texts are.
-- No items are no record where tokens, seconds or checks are, or where no row of the run has any.
-- grain: run_id, task_id, rollout_index
-- looks at: run
-- kind: table
with
-- Rows whose output says something, and how many answers of tools or of the environment report an error.
shown as (
    select
        record_id,
        bool_or(
            kind = 'message'
            and coalesce(role, 'assistant') = 'assistant'
            and regexp_matches(words, '\S')
        ) as is_spoken,
        count(*) filter (where is_error) as n_tool_errors
    from raw.events
    where kind in ('message', 'tool_result')
    group by all
),
-- How many of its criteria an attempt met, where one object of the row states both numbers:
-- `<a>passed<b>` beside `<a>total<b>` or what is counted. Of several all, unless one is the sum of the others.
whole_numbers as (
    select
        record_id,
        regexp_extract(path, '[^.]*$') as name,
        regexp_replace(path, '[^.]*$', '') as parent,
        value::bigint as n
    from staging.entries
    where
        item_no = 0
        and kind in ('UBIGINT', 'BIGINT')
        and regexp_matches(value, '^[0-9]{1,9}$')
),
totals as (
    select
        record_id,
        cast(if(
            count(*) > 1 and 2 * max(total.n) = sum(total.n),
            arg_max(met.n, (total.n, met.parent || met.name)),
            sum(met.n)
        ) as bigint) as n_checks_met,
        cast(if(count(*) > 1 and 2 * max(total.n) = sum(total.n), max(total.n), sum(total.n)) as bigint)
            as n_checks_total
    from whole_numbers as met
    inner join whole_numbers as total using (record_id, parent)
    where
        regexp_matches(met.name, '(^|_)passed(_|$)')
        and total.name in (
            replace(met.name, 'passed', 'total'),
            replace(met.name, 'passed', 'criteria'),
            replace(met.name, 'passed', 'checks'),
            replace(met.name, 'passed', 'tests')
        )
        and met.n <= total.n
        and total.n > 0
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
        coalesce(shown.is_spoken, false) as is_spoken,
        has_items,
        observations.n_subagents,
        observations.n_compactions,
        observations.n_tool_timeouts,
        observations.sandbox_outcome,
        observations.duration_s as agent_duration_s,
        coalesce(
            json_field_count(usage, 'input_tokens'), json_field_count(usage, 'prompt_tokens')
        ) as input_tokens,
        coalesce(
            json_field_count(usage, 'output_tokens'), json_field_count(usage, 'completion_tokens')
        ) as output_tokens,
        -- Plain `cost` of a row may be what its task minimizes; that of its usage is money.
        coalesce(
            first_number(json_extract(usage, ['$."cost"', '$."total_cost"'])),
            case when contains(verifier, 'cost') then first_number(json_extract(verifier, [
                '$."total_cost_usd"', '$."cost_usd"', '$."total_cost"', '$."response_cost"'
            ])) end
        ) as cost
    from staging.rollout_keys as keys
    inner join staging.records using (record_id)
    inner join (
        select
            run_id,
            bool_or(outline <> '') as has_items
        from staging.rollout_keys
        inner join staging.records using (record_id)
        where role = 'rollout'
        group by all
    ) as runs on runs.run_id = keys.run_id
    inner join raw.texts using (record_id)
    left join shown using (record_id)
    left join staging.observations using (record_id)
    where role = 'rollout'
),
-- Tokens and seconds come from whichever field recorded them; all zero means that nothing was counted.
measured as (
    select
        * replace (
            case
                when coalesce(input_tokens, 0) + coalesce(output_tokens, 0) > 0 then input_tokens
                else json_field_count(perf, 'prompt_tokens')
            end as input_tokens,
            case
                when coalesce(input_tokens, 0) + coalesce(output_tokens, 0) > 0 then output_tokens
                else json_field_count(perf, 'completion_tokens')
            end as output_tokens
        ),
        coalesce(output_tokens, json_field_count(perf, 'completion_tokens'), 0) > 0 as has_output_tokens,
        coalesce(
            first_number(json_extract(verifier, ['$."total_run_time"', '$."agent_run_time"'])),
            json_field_number(perf, 'total_latency_ms') / 1000,
            agent_duration_s,
            case when created_at > 0 and completed_at >= created_at then completed_at - created_at end
        ) as duration_s
    from read
),
seen as (
    select
        *,
        -- What an attempt did is known where items were recorded, or where nothing at all happened;
        -- other harnesses say whether they recorded it.
        coalesce(
            transcript = 'recorded',
            coalesce(outline <> '', false)
                or outline = '' and has_items
                    and not (
                        has_output_tokens
                        or coalesce(duration_s, 0) > 0
                        or record_id in (select record_id from staging.entries where item_no > 0)
                    )
        ) as is_observed
    from measured
),
observed as (
    select
        * replace (case when is_observed then outline end as outline),
        -- A turn is a stretch of the model's own items between results and users' messages.
        case when is_observed then regexp_replace(outline, '[cmto]+', 'a', 'g') end as turns,
        case when is_observed then is_spoken end as has_text,
        -- One and the same in all rows of a run is no measurement.
        case
            when
                count(duration_s) over (partition by run_id) >= 10
                and min(duration_s) over (partition by run_id) = max(duration_s) over (partition by run_id)
                then duration_s
        end as constant_duration_s
    from seen
)
select
    run_id,
    task_id,
    rollout_index,
    task_id || ':' || rollout_index as rollout_id,
    reward,
    reward is not null as is_scored,
    reward >= benchmarks.pass_threshold - 1e-9 as is_pass,
    is_masked,
    totals.n_checks_met,
    totals.n_checks_total,
    status,
    model,
    agent,
    finish_reason,
    limit_reached,
    case
        when limit_reached is not null or status = 'incomplete' then true
        when coalesce(status, finish_reason) is not null or has_text is not null then false
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
    case when is_observed then coalesce(n_tool_errors, 0) end as n_tool_errors,
    n_subagents,
    n_compactions,
    n_tool_timeouts,
    sandbox_outcome,
    input_tokens,
    output_tokens,
    if(constant_duration_s is null, duration_s, null) as duration_s,
    constant_duration_s,
    case when cost between 0 and 1e12 then cost end as cost,
    case
        when settings.answer_path is null then extracted_answer(verifier)
        else json_as_text(row_field(verifier, reward_components, settings.answer_path))
    end as answer,
    prompt_sha,
    has_prompt,
    source_file,
    source_line,
    record_id,
    last_message_seq,
    is_observed
from observed
inner join staging.run_benchmarks as benchmarks using (run_id)
left join totals using (record_id)
cross join raw.settings
