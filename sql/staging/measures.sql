-- Tokens, turns and seconds of a row, from whichever field recorded them; unknown is null.
-- grain: record_id
with

records as (

    select * from staging.records where role = 'rollout'

),

outlines as (

    select * from staging.outlines

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
        ) as duration_s

    from records

),

final as (

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
        read.duration_s

    from read

    left join outlines using (record_id)

)

select * from final
