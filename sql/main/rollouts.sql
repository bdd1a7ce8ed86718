-- One attempt of a run at a task: its reward, its size, its last words and where it came from.
-- grain: run_id, task_id, rollout_index
-- kind: table
with

keys as (

    select * from staging.rollout_keys

),

records as (

    select * from staging.records

),

measures as (

    select * from staging.measures

),

tool_errors as (

    select * from staging.tool_errors

),

thresholds as (

    select
        run_benchmarks.run_id,
        thresholds.pass_threshold

    from staging.run_benchmarks as run_benchmarks

    inner join staging.thresholds as thresholds using (benchmark)

),

final as (

    select
        keys.run_id,
        keys.task_id,
        keys.rollout_index,
        keys.task_id || ':' || keys.rollout_index as rollout_id,
        records.reward,
        records.reward is not null as is_scored,
        records.reward >= thresholds.pass_threshold - 1e-9 as is_pass,
        records.status,
        records.model,
        records.agent,
        coalesce(
            records.incomplete_reason,
            json_field(records.verifier, 'finish_reason'),
            json_field(records.verifier, 'stop_reason')
        ) as finish_reason,
        measures.n_events,
        measures.n_turns,
        measures.n_tool_calls,
        case when measures.n_events is not null then coalesce(tool_errors.n_tool_errors, 0) end
            as n_tool_errors,
        measures.input_tokens,
        measures.output_tokens,
        measures.duration_s,
        records.final_text,
        as_json(records.verifier) as verifier,
        records.prompt_sha,
        records.source_file,
        records.source_line,
        records.record_id

    from keys

    inner join records using (record_id)

    inner join thresholds using (run_id)

    left join measures using (record_id)

    left join tool_errors using (record_id)

)

select * from final
