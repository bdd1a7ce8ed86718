-- What each recorded trajectory shows of its rollout: which checks apply, and their findings.
-- grain: record_id
-- kind: step
-- needs: raw.records where trajectory is not null
with parsed as (
    select
        record_id,
        -- An object whose lists are lists of objects, or not there.
        left(trajectory, 1) = '{' and list_bool_and(list_transform(
            json_extract(
                trajectory, ['$.invocations', '$.turns', '$.model_calls', '$.tool_calls', '$.gaps']
            ),
            lambda part: case left(part, 1)
                when '[' then coalesce(list_bool_and(list_transform(
                    from_json(part, '["JSON"]'), lambda entry: coalesce(left(entry, 1) = '{', false)
                )), true)
                else coalesce(part::varchar = 'null', true)
            end
        )) as is_readable,
        array_to_string(trajectory ->> '$.gaps[*].code', e'\n') as gaps,
        -- A type that disagrees is null.
        unnest(try(json_transform(trajectory, '{
            "invocations": [{
                "invocation_id": "VARCHAR", "parent_invocation_id": "VARCHAR",
                "model_calls": [{
                    "model_call_id": "VARCHAR", "model_ref": "JSON", "response_id": "VARCHAR"
                }]
            }],
            "turns": [{
                "invocation_id": "VARCHAR", "turn_no": "VARCHAR", "answer": "JSON",
                "reasoning": "JSON", "reasoning_content": "JSON", "tool_calls": "JSON",
                "model_calls": [{
                    "model_call_id": "VARCHAR", "model_ref": "JSON", "response_id": "VARCHAR"
                }]
            }],
            "model_calls": [{
                "model_call_id": "VARCHAR", "model_ref": "JSON", "response_id": "VARCHAR",
                "started_at": "JSON", "response": "JSON",
                "response_metadata": {
                    "response_id": "VARCHAR", "model_ref": "JSON", "status_code": "JSON",
                    "response_status": "VARCHAR", "finish_reason": "VARCHAR",
                    "error_category": "VARCHAR"
                },
                "token_stats": {"prompt_tokens": "JSON", "completion_tokens": "JSON"}
            }],
            "tool_calls": [{
                "invocation_id": "VARCHAR", "turn_no": "VARCHAR", "tool_name": "VARCHAR"
            }]
        }')))
    from raw.records
    where trajectory is not null
),
-- What the collector says it lost is no finding.
observed as (
    select
        * exclude (is_readable) replace (coalesce(gaps, '') as gaps),
        not is_readable as is_unreadable,
        is_readable and not regexp_matches(gaps, '(?m)^trajectory_projection_failed$')
            as is_observed,
        regexp_matches(
            gaps,
            '(?m)^(model_calls_unavailable|model_call_capture_incomplete'
            || '|model_calls?_.*unreadable)$'
        ) as lacks_calls
    from parsed
),
lists as (
    select
        record_id,
        is_unreadable,
        is_observed and not regexp_matches(
            gaps, '(?m)^tool_calls?_.*(unavailable|incomplete|unreadable)$'
        ) as has_tools,
        case when is_observed and not lacks_calls then regexp_extract_all(
            gaps, '(?m)^model_call_reference_(unmatched|ambiguous|conflict)$'
        ) end as gaps,
        tool_calls,
        -- Invocations that another one started: what they do the row's own response does not show.
        list_transform(
            list_filter(invocations, lambda each: each.parent_invocation_id is not null),
            lambda each: each.invocation_id
        ) as subagents,
        case when is_observed and not regexp_matches(gaps, '(?m)^turns_unavailable$') then
            list_transform(turns, lambda turn, place: {
                'place': place,
                'invocation_id': turn.invocation_id,
                'words': list_transform(
                    [turn.answer, turn.reasoning_content, turn.reasoning],
                    lambda value: json_words(value)
                ),
                'has_reference': length(call_references(turn.model_calls)) > 0,
                -- Its list of calls holds one, or its answer does, or a call of a tool is of this
                -- turn: such a call names its invocation, seldom its turn.
                'has_call': json_array_length(turn.tool_calls) > 0
                    or regexp_matches(
                        array_to_string(list_concat(
                            json_extract(turn.answer, '$..type'),
                            json_extract(turn.answer, '$..tool_calls[0]')
                        ), e'\n'),
                        '(?m)^\{|_call"$|^"tool_use"$|^"mcp_'
                    )
                    or length(list_filter(tool_calls, lambda call:
                        coalesce(call.invocation_id = turn.invocation_id, true)
                        and coalesce(call.turn_no = turn.turn_no, true)
                    )) > 0
            })
        end as turns,
        case when is_observed and not lacks_calls and model_calls is not null then
            list_sort(list_distinct(call_references(flatten(list_concat(
                list_transform(turns, lambda turn: turn.model_calls),
                list_transform(invocations, lambda each: each.model_calls)
            )))))
        end as refs,
        case when is_observed and not lacks_calls then
            list_transform(model_calls, lambda call, place: {
                'place': place,
                'id': nullif(call.model_call_id, ''),
                'model': model_key(coalesce(call.response_metadata.model_ref, call.model_ref)),
                'response_id': nullif(
                    coalesce(call.response_metadata.response_id, call.response_id), ''
                ),
                'started_at': call.started_at::varchar,
                'status_code': json_as_integer(call.response_metadata.status_code),
                'status': lower(call.response_metadata.response_status),
                'error': nullif(call.response_metadata.error_category, ''),
                'prompt_tokens': json_as_index(call.token_stats.prompt_tokens),
                'completion_tokens': json_as_index(call.token_stats.completion_tokens),
                -- Payloads are long: only those of calls that were cut are read.
                'cut_response': case
                    when lower(call.response_metadata.finish_reason)
                        in ('length', 'max_output_tokens', 'max_tokens')
                        then coalesce(call.response, 'null')
                end
            })
        end as calls
    from observed
),
-- How many calls answer to each reference. An id says it alone, unless the rest is of another call.
resolved as (
    select
        * exclude (turns, refs, calls),
        list_transform(turns, lambda turn: struct_insert(
            turn, is_acting := length(flatten(turn.words)) > 0 or coalesce(turn.has_call, false)
        )) as turns,
        list_transform(refs, lambda reference: {
            'name': coalesce(reference.id, reference.model || ' ' || reference.response_id),
            'places': list_transform(
                list_filter(calls, lambda call: case
                    when reference.id is null then
                        call.model = reference.model
                        and call.response_id = reference.response_id
                    else
                        call.id = reference.id
                        and coalesce(call.model = reference.model, true)
                        and coalesce(call.response_id = reference.response_id, true)
                end),
                lambda call: call.place
            )
        }) as refs,
        list_transform(calls, lambda call: struct_insert(
            call,
            -- By its id where that can be shown, else by its place in the list.
            subject := case
                when length(call.id) <= 100 then call.id
                else 'model_calls[' || (call.place - 1) || ']'
            end,
            outcome := concat_ws(', ', 'HTTP status ' || call.status_code, call.error, call.status),
            is_failed := coalesce(call.status_code >= 400, false)
                or coalesce(lower(call.error) <> 'none', false)
                or coalesce(call.status in ('failed', 'error', 'cancelled'), false),
            -- A response's settings hold texts too.
            has_words := case when left(call.cut_response, 1) <> 'n' then length(flatten(
                list_transform(
                    case left(call.cut_response, 1)
                        when '{' then json_extract(
                            call.cut_response,
                            ['$.output', '$.output_text', '$.choices', '$.content']
                        )
                        else [call.cut_response]
                    end,
                    lambda part: json_words(part)
                )
            )) > 0 end
        )) as calls
    from lists
),
-- The policy model's own calls: a turn or an invocation names just this one.
named as (
    select
        *,
        list_transform(
            list_filter(refs, lambda reference: length(reference.places) = 1),
            lambda reference: reference.places[1]
        ) as own_places
    from resolved
),
owned as (
    select
        * exclude (calls, own_places),
        list_filter(calls, lambda call: list_contains(own_places, call.place)) as calls
    from named
),
-- How each model's calls end. Which is the last is unknown where one has no time, and does not
-- matter where all failed.
ended as (
    select
        *,
        list_transform(
            list_transform(
                list_sort(list_distinct(
                    list_transform(calls, lambda call: coalesce(call.model, ''))
                )),
                lambda model: list_filter(calls, lambda call: coalesce(call.model, '') = model)
            ),
            lambda own: {
                'is_known': length(list_filter(own, lambda call: call.started_at is null)) = 0
                    or length(list_distinct(list_transform(own, lambda call: call.is_failed))) = 1,
                'last': list_reverse_sort(list_transform(own, lambda call: {
                    'number': coalesce(json_as_number(call.started_at), '-inf'::double),
                    'text': coalesce(call.started_at, ''),
                    'place': call.place,
                    'is_failed': call.is_failed,
                    'subject': call.subject,
                    'outcome': call.outcome
                }))[1]
            }
        ) as ends
    from owned
),
responses as (
    select
        record_id,
        list(tool order by tool) as tools
    from raw.events
    semi join (select record_id from raw.records where trajectory is not null) as recorded
        using (record_id)
    where kind = 'tool_call'
    group by all
),
joined as (
    select
        ended.* exclude (tool_calls, subagents),
        list_sort(list_transform(
            list_filter(
                tool_calls,
                lambda call: not coalesce(list_contains(subagents, call.invocation_id), false)
            ),
            lambda call: call.tool_name
        )) as tools,
        coalesce(responses.tools, []) as response_tools,
        regexp_replace(
            trim(array_to_string(
                list_filter(
                    turns,
                    lambda turn: not coalesce(list_contains(subagents, turn.invocation_id), false)
                )[-1].words[1],
                ' '
            )),
            '\s+', ' ', 'g'
        ) as answer,
        regexp_replace(trim(final_text), '\s+', ' ', 'g') as final_text,
        records.outline,
        coalesce(
            json_field_count(records.usage, 'input_tokens'),
            json_field_count(records.usage, 'prompt_tokens')
        ) as input_tokens,
        coalesce(
            json_field_count(records.usage, 'output_tokens'),
            json_field_count(records.usage, 'completion_tokens')
        ) as output_tokens
    from ended
    inner join staging.records using (record_id)
    left join staging.final_texts using (record_id)
    left join responses using (record_id)
),
compared as (
    select
        * replace (
            coalesce(tools, []) as tools,
            coalesce(answer, '') as answer,
            coalesce(final_text, '') as final_text
        ),
        coalesce(length(refs) > 0 and list_bool_and(list_transform(
            refs, lambda reference: length(reference.places) = 1
        )), false) as is_bound,
        -- Usage that is all zero was not counted.
        coalesce(input_tokens, 0) + coalesce(output_tokens, 0) > 0 as is_counted,
        -- Items of other kinds may be calls.
        coalesce(has_tools and not regexp_matches(outline, 'o'), false) as has_tools_of_both
    from joined
),
judged as (
    select
        *,
        -- A list without a call may not have been recorded.
        has_tools_of_both and (length(tools) > 0 or length(response_tools) = 0)
            as can_compare_calls,
        coalesce(
            turns is not null
            and (answer <> '' or final_text = '' or not regexp_matches(outline, 'm$')),
            false
        ) as can_compare_answer,
        -- A sum is known when each of its parts is.
        case
            when is_bound
                and list_count(list_transform(calls, lambda call: call.prompt_tokens))
                = length(calls)
                then list_sum(list_transform(calls, lambda call: call.prompt_tokens))::bigint
        end as prompt_tokens,
        case
            when is_bound
                and list_count(list_transform(calls, lambda call: call.completion_tokens))
                = length(calls)
                then list_sum(list_transform(calls, lambda call: call.completion_tokens))::bigint
        end as completion_tokens
    from compared
)
select
    record_id,
    turns is not null as has_turns,
    coalesce(length(calls) > 0, false) as has_calls,
    length(calls) as n_owned,
    length(list_filter(
        calls,
        lambda call: not call.is_failed and coalesce(call.status_code between 200 and 399, true)
    )) as n_successful,
    is_bound,
    coalesce(length(refs), 0) + coalesce(length(gaps), 0) > 0 as has_references,
    -- Whether each call that was cut has an answer.
    length(calls) > 0 and length(list_filter(
        calls, lambda call: call.cut_response is not null and call.has_words is null
    )) = 0 as has_cut_responses,
    list_bool_and(list_transform(ends, lambda each: each.is_known)) as has_order,
    is_counted and prompt_tokens + completion_tokens + input_tokens + output_tokens is not null
        as has_sums,
    can_compare_calls and can_compare_answer as has_answers,
    list_filter(
        flatten([
            flatten(list_transform(calls, lambda call: [
                case when call.is_failed then finding(
                    'model_call_failed', call.subject, 'the model call failed', call.outcome
                ) end,
                case when call.completion_tokens = 0 then finding(
                    'model_call_zero_completion_tokens', call.subject,
                    'the model call reports zero completion tokens', null
                ) end,
                case when call.prompt_tokens is null or call.completion_tokens is null then finding(
                    'model_call_missing_token_counts', call.subject,
                    'the model call has no count of its ' || concat_ws(
                        ' and ',
                        case when call.prompt_tokens is null then 'prompt' end,
                        case when call.completion_tokens is null then 'completion' end
                    ) || ' tokens',
                    null
                ) end,
                case when not call.has_words then finding(
                    'model_call_runaway_generation', call.subject,
                    'the model call ended at its length limit with neither text nor reasoning', null
                ) end
            ])),
            list_transform(ends, lambda each: case when each.is_known and each.last.is_failed then
                finding(
                    'rollout_ended_on_failed_model_call', each.last.subject,
                    'the last call of the model failed', each.last.outcome
                )
            end),
            list_transform(refs, lambda reference: case when length(reference.places) <> 1 then
                finding(
                    'trajectory_capture_mismatch', left(reference.name, 100),
                    length(reference.places)
                        || ' recorded model calls answer to the reference, not one',
                    null
                )
            end),
            list_transform(gaps, lambda gap: finding(
                'trajectory_capture_mismatch', gap,
                'the collector could not resolve a reference to a model call', 'gap ' || gap
            )),
            list_transform(turns, lambda turn: case when not turn.is_acting then finding(
                'agent_turn_hollow', 'turns[' || (turn.place - 1) || ']',
                'the turn has no answer, no reasoning and no tool call', null
            ) end),
            [
                case
                    when turns is not null
                        and not coalesce(list_bool_or(list_transform(
                            turns, lambda turn: turn.is_acting or turn.has_reference
                        )), false)
                        then finding(
                            'rollout_missing_agent_turns', '',
                            'no turn has text, reasoning, a tool call or a model call',
                            'turns: ' || length(turns)
                        )
                end,
                case when is_unreadable then finding(
                    'record_unreadable', 'ng_trajectory',
                    'the trajectory is not an object of lists of objects', null
                ) end,
                case
                    when is_counted
                        and (input_tokens <> prompt_tokens or output_tokens <> completion_tokens)
                        then finding(
                            'rollout_token_count_mismatch', '',
                            'usage and the sums of the model calls disagree',
                            format(
                                'prompt {} and {}, completion {} and {}',
                                coalesce(input_tokens::varchar, '?'),
                                coalesce(prompt_tokens::varchar, '?'),
                                coalesce(output_tokens::varchar, '?'),
                                coalesce(completion_tokens::varchar, '?')
                            )
                        )
                end,
                case
                    when can_compare_calls
                        and (
                            length(tools) <> length(response_tools)
                            or (list_count(tools) = length(tools) and tools <> response_tools)
                        )
                        then finding(
                            'trajectory_response_mismatch', 'tool calls',
                            'the tool calls of the trajectory are not those of the response',
                            length(tools) || ' in the trajectory, ' || length(response_tools)
                                || ' in the response'
                        )
                end,
                case
                    when can_compare_answer
                        and answer <> ''
                        and outline is not null
                        and (
                            final_text = ''
                            or (strpos(final_text, answer) = 0 and strpos(answer, final_text) = 0)
                        )
                        then finding(
                            'trajectory_response_mismatch', 'answer',
                            'the last answer of the trajectory is not the final text of '
                                || 'the response',
                            left(answer, 80)
                        )
                end
            ]
        ]),
        lambda found: found is not null
    ) as findings
from judged
