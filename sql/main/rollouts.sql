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

signs as (

    select * from staging.signs

),

settings as (

    select * from raw.settings

),

benchmarks as (

    select
        run_benchmarks.run_id,
        thresholds.pass_threshold,
        core_actions.is_tool_call

    from staging.run_benchmarks as run_benchmarks

    inner join staging.thresholds as thresholds using (benchmark)

    inner join staging.core_actions as core_actions using (benchmark)

),

final as (

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
        records.final_text,
        case
            when settings.answer_path is null then extracted_answer(records.verifier)
            else json_as_text(
                row_field(records.verifier, records.reward_components, settings.answer_path)
            )
        end as answer,
        as_json(records.verifier) as verifier,
        records.prompt_sha,
        records.source_file,
        records.source_line,
        records.record_id

    from keys

    inner join records using (record_id)

    inner join benchmarks using (run_id)

    inner join signs using (record_id)

    cross join settings

    left join measures using (record_id)

    left join tool_errors using (record_id)

)

select * from final
