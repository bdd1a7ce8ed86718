-- Every row of a rollout, inputs or failures file, typed, with its role and its place.
-- grain: record_id
-- looks at: rollout
-- kind: table
with
-- What several columns are made of: an alias of the same select would be computed again at each place.
opened as (
    select
        records.* replace (
            json_as_text(records.agent) as agent,
            json_as_text(records.incomplete_reason) as incomplete_reason,
            json_as_text(records.question) as question,
            lower(json_as_text(records.response_status)) as response_status,
            coalesce(question_matches.prompt_sha, records.prompt_sha) as prompt_sha
        ),
        files.path as source_file,
        files.run_name,
        files.seed,
        files.chunk,
        files.kind as file_kind,
        files.format is not null as is_foreign,
        question_matches.task_index as matched_task_index,
        row_field(records.verifier, records.reward_components, settings.task_id_path) as task_id,
        settings.reward_path is not null as is_reward_chosen,
        row_field(records.verifier, records.reward_components, settings.reward_path) as chosen_reward,
        -- Where a row of Gym has no `reward`: the field that was read in its place.
        case
            when
                not is_foreign
                and files.kind = 'rollouts'
                and not records.has_reward
                and settings.reward_path is null
                then outcome_field(records.verifier)
        end as reward_field
    from raw.records
    inner join raw.files
        on files.file_no = records.record_id // 1099511627776
    left join raw.question_matches using (record_id)
    cross join raw.settings
),
rewarded as (
    select
        * replace (json_as_number(chosen_reward) as chosen_reward),
        coalesce(
            not is_foreign
            and contains(verifier, '"verification_skipped"')
            and json_as_boolean(json_extract(verifier, '$."verification_skipped"')),
            false
        ) as is_verification_skipped,
        json_extract(verifier, '$."' || reward_field || '"') as other_reward,
        coalesce(
            incomplete_reason,
            json_field(verifier, 'finish_reason'),
            json_field(verifier, 'stop_reason'),
            case when is_foreign then json_as_text(usual_end) end
        ) as finish_reason
    from opened
)
select
    record_id,
    source_file,
    record_id % 1099511627776 as source_line,
    run_name,
    seed,
    chunk,
    reward_field,
    is_verification_skipped,
    case
        when file_kind = 'inputs' then 'input'
        when file_kind = 'failures' then 'failure'
        when json_as_text(failure_class) is not null then 'failure'
        when
            not has_reward
            and not has_response
            and reward_field is null
            and chosen_reward is null
            then 'input'
        else 'rollout'
    end as role,
    file_kind,
    bounded_name(nullif(trim(agent), '')) as agent,
    -- What distinguishes the runs of one file: the variant of another harness, else the agent.
    bounded_name(coalesce(
        case when is_foreign then json_as_text(variant) end,
        nullif(trim(agent), '')
    )) as part,
    case when is_foreign then json_as_text(benchmark) end as said_benchmark,
    coalesce(
        matched_task_index,
        json_as_text(task_id),
        json_as_text(task_index)
    ) as task_index,
    json_as_index(rollout_index) as rollout_index,
    json_as_integer(attempt_index) as attempt_index,
    json_as_integer(stage_index) as stage_index,
    case
        when is_reward_chosen then chosen_reward
        when is_verification_skipped then null
        when reward_field is not null then json_as_measure(other_reward)
        else json_as_number(reward)
    end as reward,
    reward_components,
    mask_sample,
    -- Some environments put it into their copy of the instance.
    coalesce(
        json_as_boolean(mask_sample),
        case
            when contains(verifier, '"mask_sample"')
                then json_as_boolean(json_extract(verifier, '$."instance_config"."mask_sample"'))
        end
    ) as is_masked,
    json_as_text(skills_hash) as skills_hash,
    coalesce(
        model_name(json_as_text(response_model)),
        model_name(json_as_text(request_model))
    ) as model,
    response_status as status,
    finish_reason,
    -- The cap that ended the attempt: a reader of another harness says it, else the response does.
    -- A response that a filter ended reached no cap.
    coalesce(
        case when is_foreign then json_as_text(limit_reached) end,
        nullif(incomplete_reason, 'content_filter'),
        case
            when lower(finish_reason) in ('length', 'max_tokens', 'max_output_tokens', 'model_length')
                then finish_reason
            when status = 'incomplete' and incomplete_reason is null then 'incomplete'
        end
    ) as limit_reached,
    usage,
    json_as_number(created_at) as created_at,
    json_as_number(completed_at) as completed_at,
    coalesce(json_as_number(request_temperature), json_as_number(response_temperature))
        as temperature,
    coalesce(json_as_number(request_top_p), json_as_number(response_top_p)) as top_p,
    coalesce(json_as_integer(request_max_output_tokens), json_as_integer(response_max_output_tokens))
        as max_output_tokens,
    json_as_text(request_effort) as reasoning_effort,
    bounded_name(json_as_text(failure_class)) as failure_class,
    case failure_terminal::varchar when 'true' then true when 'false' then false end as is_terminal,
    json_as_text(failure_judge_error) as judge_error,
    perf,
    outline,
    case when is_foreign then json_as_text(transcript) end as transcript,
    -- The last letter m of the outline, counted from 1.
    cast(nullif(length(regexp_replace(outline, '[^m]*$', '')), 0) as integer)
        as last_message_seq,
    prompt <> '' or question is not null as has_prompt,
    -- All that is known of the question is the number of its task.
    prompt = '' and try_cast(question as bigint) is not null as is_only_numbered,
    prompt_sha,
    write_tools,
    tools,
    truth_hash,
    prefill_hash,
    request_hash,
    ids,
    task_hash,
    content_hash
from rewarded
