-- Which evidence for its health a rollout lacks; a plain response serves where calls or turns are not there.
-- grain: run_id, task_id, rollout_index
with

facts as (

    select
        facts.record_id,
        facts.has_turns,
        facts.n_owned > 0 as has_calls,
        facts.n_references > 0 or facts.has_reference_gap as has_references,
        facts.n_cut_unseen = 0 as has_cut_responses,
        facts.n_unordered = 0 as has_order,
        facts.prompt_tokens + facts.completion_tokens
            + facts.usage_prompt_tokens + facts.usage_completion_tokens is not null as has_sums,
        coalesce(answers.can_compare_calls and answers.can_compare_answer, false) as has_answers

    from staging.trajectory_facts as facts

    left join staging.trajectory_answers as answers using (record_id)

),

final as (

    select
        rollouts.run_id,
        rollouts.task_id,
        rollouts.rollout_index,
        not coalesce(facts.has_turns, false) as lacks_turns,
        not coalesce(facts.has_calls, false) as lacks_calls,
        not coalesce(facts.has_references, false) as lacks_references,
        not coalesce(facts.has_calls and facts.has_cut_responses, false) as lacks_cut_responses,
        not coalesce(facts.has_calls and facts.has_order, false) as lacks_order,
        not coalesce(facts.has_sums, false) as lacks_sums,
        not coalesce(facts.has_answers, false) as lacks_answers,
        rollouts.has_output is null as lacks_response,
        rollouts.has_output is null and not coalesce(facts.has_turns, false) as lacks_output,
        rollouts.status is null and not coalesce(facts.has_calls, false) as lacks_status,
        rollouts.output_tokens is null and not coalesce(facts.has_calls, false) as lacks_tokens

    from main.rollouts as rollouts

    left join facts using (record_id)

)

select * from final
