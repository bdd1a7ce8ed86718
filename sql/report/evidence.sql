-- What a rollout was asked, did and got: what a page shows of those it cites.
-- grain: run_id, task_id, rollout_index
select
    rollouts.run_id,
    rollouts.task_id,
    rollouts.rollout_index,
    rollouts.is_scored,
    rollouts.is_pass,
    rollouts.reward,
    rollouts.finish_reason,
    rollouts.n_events,
    rollouts.n_turns,
    rollouts.n_tool_calls,
    rollouts.n_tool_errors,
    rollouts.output_tokens,
    rollouts.duration_s,
    left(questions.prompt, 400) as prompt,
    length(questions.prompt) as n_prompt_characters,
    left(rollouts.final_text, 600) as final_text,
    length(rollouts.final_text) as n_characters,
    modes.mode,
    left(modes.snippet, 300) as snippet,
    modes.evidence_seq,
    rollouts.source_file,
    rollouts.source_line
from main.rollouts
left join main.task_prompts as questions using (run_id, task_id, prompt_sha)
left join main.rollout_modes as modes
    on modes.run_id = rollouts.run_id
    and modes.task_id = rollouts.task_id
    and modes.rollout_index = rollouts.rollout_index
    and modes.is_primary
order by
    rollouts.run_id,
    try_cast(rollouts.task_id as bigint),
    rollouts.task_id,
    rollouts.rollout_index
