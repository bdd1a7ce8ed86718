-- Everything that the health checks found on single rollouts.
-- grain: run_id, task_id, rollout_index, check_id, subject
-- kind: table
with calls as (
    select
        record_id,
        place,
        subject,
        is_failed,
        is_cut and not has_words as is_runaway,
        completion_tokens = 0 as is_zero,
        concat_ws(
            ' and ',
            case when prompt_tokens is null then 'prompt' end,
            case when completion_tokens is null then 'completion' end
        ) as missing,
        -- Where all of a model's calls failed their order does not matter.
        is_failed
            and rank_from_last = 1
            and (n_timed = n_of_model or n_failed = n_of_model) as is_failed_end,
        concat_ws(', ', 'HTTP status ' || status_code, error_category, response_status) as outcome
    from staging.owned_calls
),
call_findings_found as (
    select
        record_id,
        'model_call_failed' as check_id,
        subject,
        'the model call failed' as message,
        outcome as evidence
    from calls
    where is_failed
    union all
    select
        record_id,
        'rollout_ended_on_failed_model_call' as check_id,
        subject,
        'the last call of the model failed' as message,
        outcome as evidence
    from calls
    where is_failed_end
    union all
    select
        record_id,
        'model_call_missing_token_counts' as check_id,
        subject,
        'the model call has no count of its ' || missing || ' tokens' as message,
        null as evidence
    from calls
    where missing <> ''
    union all
    select
        record_id,
        'model_call_zero_completion_tokens' as check_id,
        subject,
        'the model call reports zero completion tokens' as message,
        null as evidence
    from calls
    where is_zero
    union all
    select
        record_id,
        'model_call_runaway_generation' as check_id,
        subject,
        'the model call ended at its length limit with neither text nor reasoning' as message,
        null as evidence
    from calls
    where is_runaway
),
-- What is wrong with a policy model's own calls, one by one and at the end of the rollout.
-- Two calls may bear one id.
call_findings as (
    select
        record_id,
        check_id,
        subject,
        min(message) as message,
        min(evidence) as evidence
    from call_findings_found as found
    group by record_id, check_id, subject
),
gaps as (
    select
        record_id,
        unnest(gaps) as gap
    from staging.trajectories
    where has_reference_gap
),
reference_findings_found as (
    select
        record_id,
        'trajectory_capture_mismatch' as check_id,
        left(coalesce(model_call_id, model_ref || ' ' || response_id), 100) as subject,
        n_calls || ' recorded model calls answer to the reference, not one' as message,
        null as evidence
    from staging.call_references
    where n_calls <> 1
    union all
    select
        record_id,
        'trajectory_capture_mismatch' as check_id,
        gap as subject,
        'the collector could not resolve a reference to a model call' as message,
        'gap ' || gap as evidence
    from gaps
    where regexp_matches(gap, '^model_call_reference_(unmatched|ambiguous|conflict)$')
),
-- References of a trajectory that do not lead to just one model call.
-- Long names are cut, and a gap may be told twice.
reference_findings as (
    select
        record_id,
        check_id,
        subject,
        min(message) as message,
        min(evidence) as evidence
    from reference_findings_found as found
    group by record_id, check_id, subject
),
-- Turns and calls that were recorded say more, and their checks speak then.
rollouts as (
    select
        rollouts.record_id,
        rollouts.is_scored,
        rollouts.status,
        rollouts.has_output,
        rollouts.output_tokens,
        rollouts.final_text,
        coalesce(facts.has_turns, false) as has_turns,
        coalesce(facts.n_owned > 0, false) as has_calls
    from main.rollouts
    left join staging.trajectory_facts as facts using (record_id)
),
-- Few rollouts have neither text nor call: only of those is more read.
silent as (
    select
        rollouts.record_id,
        rollouts.has_turns,
        rollouts.has_calls,
        coalesce(
            json_field_count(records.usage, 'output_tokens'),
            json_field_count(records.usage, 'completion_tokens')
        ) as usage_tokens
    from rollouts
    inner join staging.records using (record_id)
    where not rollouts.has_output and not regexp_matches(records.outline, '[to]')
),
-- What the plain response of a rollout shows where no trajectory shows more.
response_findings as (
    select
        record_id,
        'response_no_output' as check_id,
        'the response holds no text, no reasoning and no call' as message,
        null as evidence
    from silent
    where not has_turns
    union all
    select
        rollouts.record_id,
        'response_zero_tokens' as check_id,
        'the response reports zero output tokens' as message,
        null as evidence
    from rollouts
    left join silent using (record_id)
    -- Usage of all zeros is a count only where nothing was written.
    where not rollouts.has_calls and coalesce(rollouts.output_tokens, silent.usage_tokens) = 0
    union all
    select
        record_id,
        'response_failed' as check_id,
        'the response says that it failed' as message,
        'status ' || status as evidence
    from rollouts
    where not has_calls and status in ('failed', 'error', 'cancelled')
    union all
    select
        record_id,
        'response_placeholder' as check_id,
        'the final text stands in for an answer, and was scored' as message,
        left(final_text, 200) as evidence
    from rollouts
    where is_scored and is_placeholder(final_text)
),
-- Trajectories that cannot be read, or that disagree with the row they stand in.
trajectory_findings as (
    select
        record_id,
        'record_unreadable' as check_id,
        'ng_trajectory' as subject,
        'the trajectory is not an object of lists of objects' as message,
        null as evidence
    from staging.trajectory_facts as facts
    where not is_readable
    union all
    select
        record_id,
        'rollout_token_count_mismatch' as check_id,
        '' as subject,
        'usage and the sums of the model calls disagree' as message,
        'prompt ' || coalesce(cast(usage_prompt_tokens as varchar), '?') || ' and '
            || coalesce(cast(prompt_tokens as varchar), '?') || ', completion '
            || coalesce(cast(usage_completion_tokens as varchar), '?') || ' and '
            || coalesce(cast(completion_tokens as varchar), '?') as evidence
    from staging.trajectory_facts as facts
    where usage_prompt_tokens <> prompt_tokens or usage_completion_tokens <> completion_tokens
    union all
    select
        record_id,
        'trajectory_response_mismatch' as check_id,
        'tool calls' as subject,
        'the tool calls of the trajectory are not those of the response' as message,
        n_tools || ' in the trajectory, ' || n_calls || ' in the response' as evidence
    from staging.trajectory_answers as answers
    where can_compare_calls and has_other_calls
    union all
    select
        record_id,
        'trajectory_response_mismatch' as check_id,
        'answer' as subject,
        'the last answer of the trajectory is not the final text of the response' as message,
        answer as evidence
    from staging.trajectory_answers as answers
    where can_compare_answer and has_other_answer
),
-- Turns of a trajectory in which the agent did nothing, and trajectories of nothing else.
turn_findings as (
    select
        record_id,
        'agent_turn_hollow' as check_id,
        'turns[' || (place - 1) || ']' as subject,
        'the turn has no answer, no reasoning and no tool call' as message,
        null as evidence
    from staging.trajectory_turns
    where not has_text and not has_reasoning and not has_call
    union all
    select
        facts.record_id,
        'rollout_missing_agent_turns' as check_id,
        '' as subject,
        'no turn has text, reasoning, a tool call or a model call' as message,
        'turns: ' || count(turns.place) as evidence
    from staging.trajectory_facts as facts
    left join staging.trajectory_turns as turns using (record_id)
    where facts.has_turns
    group by facts.record_id
    having
        count(*) filter (
            where turns.has_text or turns.has_reasoning or turns.has_call or turns.has_reference
        ) = 0
),
found as (
    select * from call_findings
    union all
    select * from turn_findings
    union all
    select * from reference_findings
    union all
    select * from trajectory_findings
    union all
    select
        record_id,
        check_id,
        '' as subject,
        message,
        evidence
    from response_findings
),
shared as (
    select
        run_id,
        task_id,
        rollout_index,
        max(rank) as n_rows
    from staging.keys
    where role = 'rollout' and rank > 1
    group by all
),
-- Rollouts whose key several rows claim, that the machinery failed, or whose reward is not to be trusted.
identity_findings as (
    select
        keys.run_id,
        keys.task_id,
        keys.rollout_index,
        'rollout_duplicate_identity' as check_id,
        records.source_file || ':' || records.source_line as subject,
        shared.n_rows || ' rows share the task and the repeat' as message,
        'the row that counts is ' || keys.winner as evidence
    from staging.keys
    inner join shared using (run_id, task_id, rollout_index)
    inner join staging.records using (record_id)
    where keys.role = 'rollout'
    union all
    select
        attempts.run_id,
        attempts.task_id,
        attempts.rollout_index,
        'rollout_infrastructure_failure' as check_id,
        '' as subject,
        'the machinery failed, not the model, and nothing was scored' as message,
        'failure class ' || attempts.failure_class as evidence
    from staging.attempts
    where not attempts.is_scored and attempts.is_infrastructure and attempts.failure_class is not null
    union all
    select
        rollouts.run_id,
        rollouts.task_id,
        rollouts.rollout_index,
        'rollout_unsafe_reward' as check_id,
        '' as subject,
        'the run was verified again by force: its rewards are not to be trusted' as message,
        null as evidence
    from staging.rollout_keys as rollouts
    inner join main.runs using (run_id)
    where runs.is_unsafe
)
select
    keys.run_id,
    keys.task_id,
    keys.rollout_index,
    found.check_id,
    found.subject,
    found.message,
    found.evidence
from found
inner join staging.rollout_keys as keys using (record_id)
union all
select run_id, task_id, rollout_index, check_id, subject, message, evidence
from identity_findings
