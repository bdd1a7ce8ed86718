-- attempts: one row per attempt of a run ($1), with its question and how it ended
select
    rollouts.run_id || '/' || rollouts.rollout_id as citation,
    rollouts.run_id,
    runs.benchmark,
    rollouts.model,
    rollouts.task_id,
    rollouts.rollout_index,
    prompts.system_prompt,
    prompts.prompt,
    rollouts.final_text as output,
    rollouts.answer,
    rollouts.reward,
    rollouts.is_pass,
    modes.mode as failure_mode,
    rollouts.status,
    rollouts.finish_reason,
    rollouts.n_turns,
    rollouts.n_tool_calls,
    rollouts.input_tokens,
    rollouts.output_tokens,
    rollouts.duration_s,
    rollouts.cost
from rollouts
inner join runs using (run_id)
left join task_prompts as prompts
    on prompts.run_id = rollouts.run_id
    and prompts.task_id = rollouts.task_id
    and prompts.prompt_sha is not distinct from rollouts.prompt_sha
left join rollout_modes as modes
    on modes.run_id = rollouts.run_id
    and modes.task_id = rollouts.task_id
    and modes.rollout_index = rollouts.rollout_index
    and modes.is_primary
where rollouts.run_id = $1
order by try_cast(rollouts.task_id as bigint), rollouts.task_id, rollouts.rollout_index;

-- transcripts: the events of each attempt of a run ($1)
select
    task_id,
    rollout_index,
    list(
        {
            seq: seq,
            kind: kind,
            role: role,
            tool: tool,
            arguments: arguments::varchar,
            text: text
        }
        order by seq
    ) as events
from events
where run_id = $1
group by all;

-- tasks: one row per task of a run ($1), or of all
select
    run_id,
    benchmark,
    task_id,
    bucket,
    n_expected,
    n_rollouts,
    n_scored,
    n_passed,
    pass_rate,
    mean_reward
from task_outcomes
where $1 is null or run_id = $1
order by run_id, try_cast(task_id as bigint), task_id;

-- settings: how a run ($1) was made
select
    benchmark,
    model,
    checkpoint,
    agent,
    pass_threshold,
    n_repeats,
    sampling,
    limits
from runs
where run_id = $1;
