-- Every row of a rollout, inputs or failures file, typed, with its role and its place.
-- grain: record_id
-- looks at: rollout
-- kind: table
select
    records.record_id,
    files.path as source_file,
    records.record_id % 1099511627776 as source_line,
    files.run_name,
    files.seed,
    files.chunk,
    -- Where a row of Gym has no `reward`: the field that was read in its place.
    case
        when
            files.format is null
            and files.kind = 'rollouts'
            and not records.has_reward
            and settings.reward_path is null
            then outcome_field(records.verifier)
    end as reward_field,
    coalesce(
        files.format is null
        and contains(records.verifier, '"verification_skipped"')
        and json_as_boolean(json_extract(records.verifier, '$."verification_skipped"')),
        false
    ) as is_verification_skipped,
    case
        when files.kind = 'inputs' then 'input'
        when files.kind = 'failures' then 'failure'
        when json_as_text(records.failure_class) is not null then 'failure'
        when
            not records.has_reward
            and not records.has_response
            and reward_field is null
            and json_as_number(
                row_field(records.verifier, records.reward_components, settings.reward_path)
            ) is null
            then 'input'
        else 'rollout'
    end as role,
    files.kind as file_kind,
    bounded_name(nullif(trim(json_as_text(records.agent)), '')) as agent,
    -- What distinguishes the runs of one file: the variant of another harness, else the agent.
    bounded_name(coalesce(
        case when files.format is not null then json_as_text(records.variant) end,
        nullif(trim(json_as_text(records.agent)), '')
    )) as part,
    case when files.format is not null then json_as_text(records.benchmark) end as said_benchmark,
    coalesce(
        question_matches.task_index,
        json_as_text(row_field(records.verifier, records.reward_components, settings.task_id_path)),
        json_as_text(records.task_index)
    ) as task_index,
    json_as_index(records.rollout_index) as rollout_index,
    json_as_integer(records.attempt_index) as attempt_index,
    json_as_integer(records.stage_index) as stage_index,
    case
        when settings.reward_path is not null then json_as_number(
            row_field(records.verifier, records.reward_components, settings.reward_path)
        )
        when is_verification_skipped then null
        when reward_field is not null
            then json_as_measure(json_extract(records.verifier, '$."' || reward_field || '"'))
        else json_as_number(records.reward)
    end as reward,
    records.reward_components,
    records.mask_sample,
    -- Some environments put it into their copy of the instance.
    coalesce(
        json_as_boolean(records.mask_sample),
        case
            when contains(records.verifier, '"mask_sample"')
                then json_as_boolean(json_extract(records.verifier, '$."instance_config"."mask_sample"'))
        end
    ) as is_masked,
    json_as_text(records.skills_hash) as skills_hash,
    coalesce(
        model_name(json_as_text(records.response_model)),
        model_name(json_as_text(records.request_model))
    ) as model,
    lower(json_as_text(records.response_status)) as status,
    coalesce(
        json_as_text(records.incomplete_reason),
        json_field(records.verifier, 'finish_reason'),
        json_field(records.verifier, 'stop_reason'),
        case when files.format is not null then json_as_text(records.usual_end) end
    ) as finish_reason,
    -- The cap that ended the attempt: a reader of another harness says it, else the response does.
    -- A response that a filter ended reached no cap.
    coalesce(
        case when files.format is not null then json_as_text(records.limit_reached) end,
        nullif(json_as_text(records.incomplete_reason), 'content_filter'),
        case
            when lower(finish_reason) in ('length', 'max_tokens', 'max_output_tokens', 'model_length')
                then finish_reason
            when status = 'incomplete' and records.incomplete_reason is null then 'incomplete'
        end
    ) as limit_reached,
    records.usage,
    json_as_number(records.created_at) as created_at,
    json_as_number(records.completed_at) as completed_at,
    coalesce(json_as_number(records.request_temperature), json_as_number(records.response_temperature))
        as temperature,
    coalesce(json_as_number(records.request_top_p), json_as_number(records.response_top_p)) as top_p,
    coalesce(json_as_integer(records.request_max_output_tokens), json_as_integer(records.response_max_output_tokens))
        as max_output_tokens,
    json_as_text(records.request_effort) as reasoning_effort,
    bounded_name(json_as_text(records.failure_class)) as failure_class,
    case records.failure_terminal::varchar when 'true' then true when 'false' then false end as is_terminal,
    json_as_text(records.failure_judge_error) as judge_error,
    records.perf,
    records.outline,
    case when files.format is not null then json_as_text(records.transcript) end as transcript,
    -- The last letter m of the outline, counted from 1.
    cast(nullif(length(regexp_replace(records.outline, '[^m]*$', '')), 0) as integer)
        as last_message_seq,
    records.prompt <> '' or json_as_text(records.question) is not null as has_prompt,
    -- All that is known of the question is the number of its task.
    records.prompt = '' and try_cast(json_as_text(records.question) as bigint) is not null as is_only_numbered,
    coalesce(question_matches.prompt_sha, records.prompt_sha) as prompt_sha,
    records.write_tools,
    records.tools,
    records.truth_hash,
    records.prefill_hash,
    records.request_hash,
    records.ids,
    records.task_hash,
    records.content_hash
from raw.records
inner join raw.files
    on files.file_no = records.record_id // 1099511627776
left join raw.question_matches using (record_id)
cross join raw.settings
