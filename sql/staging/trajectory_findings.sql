-- Trajectories that cannot be read, or that disagree with the row they stand in.
-- grain: record_id, check_id, subject
with

facts as (

    select * from staging.trajectory_facts

),

answers as (

    select * from staging.trajectory_answers

),

final as (

    select
        record_id,
        'record_unreadable' as check_id,
        'ng_trajectory' as subject,
        'the trajectory is not an object of lists of objects' as message,
        null as evidence

    from facts

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

    from facts

    where usage_prompt_tokens <> prompt_tokens or usage_completion_tokens <> completion_tokens

    union all

    select
        record_id,
        'trajectory_response_mismatch' as check_id,
        'tool calls' as subject,
        'the tool calls of the trajectory are not those of the response' as message,
        n_tools || ' in the trajectory, ' || n_calls || ' in the response' as evidence

    from answers

    where can_compare_calls and has_other_calls

    union all

    select
        record_id,
        'trajectory_response_mismatch' as check_id,
        'answer' as subject,
        'the last answer of the trajectory is not the final text of the response' as message,
        answer as evidence

    from answers

    where can_compare_answer and has_other_answer

)

select * from final
