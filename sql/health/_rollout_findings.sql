-- Everything that the health checks found on single rollouts.
-- grain: run_id, task_id, rollout_index, check_id, subject
-- looks at: run
-- kind: step
with
-- Few rollouts give rise to a check of the plain response: only of those is more read.
suspects as (
    select
        * exclude (final_text),
        left(final_text, 200) as final_text,
        -- What a collector writes where there is no answer.
        is_scored and regexp_matches(
            final_text,
            '^\s*((Failed|Timed out): '
            || '|[\[(<]\s*(?i:empty|none|null|no (response|output|answer|content|text))'
            || '(?i: response| output| answer| message)?\s*[\])>]\s*$)'
        ) as is_placeholder,
        status in ('failed', 'error', 'cancelled') as is_failed
    from (
        select
            record_id,
            is_scored,
            status,
            has_output,
            output_tokens,
            -- A provider that counts no tokens of any attempt says nothing about one.
            max(output_tokens) over (partition by run_id) > 0 as is_counted,
            final_text
        from staging.rollouts
        left join staging.final_texts using (record_id)
    )
    where is_placeholder or is_failed or not has_output or output_tokens = 0
),
responses as (
    select
        suspects.*,
        not has_output and not regexp_matches(records.outline, '[to]') as is_silent,
        -- Usage of all zeros is a count only where nothing was written.
        coalesce(
            if(is_counted or is_silent, suspects.output_tokens, null),
            case when is_silent then coalesce(
                json_field_count(records.usage, 'output_tokens'),
                json_field_count(records.usage, 'completion_tokens')
            ) end
        ) = 0 as is_zero,
        -- Recorded turns and calls are more precise, so their checks are used then.
        coalesce(trajectories.has_turns, false) as has_turns,
        coalesce(trajectories.has_calls, false) as has_calls
    from suspects
    inner join staging.records using (record_id)
    left join staging.trajectories using (record_id)
),
findings_of_rows as (
    select
        record_id,
        unnest([
            case when is_silent and not has_turns then finding(
                'response_no_output', '',
                'the response holds no text, no reasoning and no call', null
            ) end,
            case when is_zero and not has_calls then finding(
                'response_zero_tokens', '', 'the response reports zero output tokens', null
            ) end,
            case when is_failed and not has_calls then finding(
                'response_failed', '', 'the response says that it failed', 'status ' || status
            ) end,
            case when is_placeholder then finding(
                'response_placeholder', '',
                'the final text was scored as the answer', final_text
            ) end
        ]) as finding
    from responses
    union all
    select
        record_id,
        unnest(findings) as finding
    from staging.trajectories
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
-- Rollouts whose key several rows claim, that the machinery failed, or whose reward is not to be
-- trusted; and what their row shows. Two calls may have one id, long names are cut, and a gap may
-- be reported twice.
every as (
    select
        run_id,
        task_id,
        rollout_index,
        finding(
            'rollout_duplicate_identity', records.source_file || ':' || records.source_line,
            shared.n_rows || ' rows share the task and the repeat',
            'the row that counts is ' || keys.winner
        ) as finding
    from staging.keys
    inner join shared using (run_id, task_id, rollout_index)
    inner join staging.records using (record_id)
    where keys.role = 'rollout'
    union all
    select
        run_id,
        task_id,
        rollout_index,
        finding(
            'rollout_infrastructure_failure', '',
            'the machinery failed, not the model, and nothing was scored',
            'failure class ' || attempts.failure_class
        ) as finding
    from staging.attempts
    where not attempts.is_scored and attempts.is_infrastructure and attempts.failure_class is not null
    union all
    select
        run_id,
        task_id,
        rollout_index,
        finding(
            'rollout_infrastructure_failure', '',
            'the attempt ended with an error of the harness, and nothing was scored', error
        ) as finding
    from staging.ungraded
    inner join staging.rollouts using (record_id)
    where
        error is not null
        and not is_scored
        and limit_reached is null
    union all
    select
        run_id,
        task_id,
        rollout_index,
        finding(
            'rollout_unsafe_reward', '',
            'the run was verified again by force: its rewards are not to be trusted', null
        ) as finding
    from staging.rollout_keys
    inner join main.runs using (run_id)
    where runs.is_unsafe
    union all
    select
        run_id,
        task_id,
        rollout_index,
        finding(
            'rollout_masked_sample', '',
            'the harness masks the sample: it takes the reward for unreliable', 'mask_sample true'
        ) as finding
    from staging.rollouts
    where is_masked
    union all
    -- A reward without a verdict behind it: no claim rests on it.
    select
        run_id,
        task_id,
        rollout_index,
        finding(
            'verdict_unsupported', '',
            'the reward has no verdict of the verifier behind it',
            reason
        ) as finding
    from staging.ungraded
    inner join staging.rollouts using (record_id)
    where is_scored
    union all
    select
        keys.run_id,
        keys.task_id,
        keys.rollout_index,
        findings_of_rows.finding
    from findings_of_rows
    inner join staging.rollout_keys as keys using (record_id)
    where findings_of_rows.finding is not null
)
select
    run_id,
    task_id,
    rollout_index,
    finding.check_id,
    finding.subject,
    min(finding.message) as message,
    min(finding.evidence) as evidence
from every
group by all
