-- attempts: one row per attempt of a run ($1): its prompts, events and fields
select
    rollouts.* exclude (verifier, final_text),
    prompts.prompt,
    prompts.system_prompt,
    tasks.slices,
    transcripts.events,
    verifier::varchar as verifier
from rollouts
inner join runs using (run_id)
left join (
    select
        task_id as prompt_task,
        prompt_sha as prompt_hash,
        prompt,
        system_prompt
    from task_prompts
    where run_id = $1
) as prompts on prompt_task = task_id and prompt_hash is not distinct from rollouts.prompt_sha
left join tasks on tasks.benchmark = runs.benchmark and tasks.task_id = rollouts.task_id
left join (
    select
        task_id,
        rollout_index,
        list({kind: kind, role: role, tool: tool, call_id: call_id, arguments: arguments,
              text: text} order by seq) as events
    from events
    where run_id = $1
    group by all
) as transcripts
    on transcripts.task_id = rollouts.task_id and transcripts.rollout_index = rollouts.rollout_index
where rollouts.run_id = $1
order by try_cast(rollouts.task_id as bigint), rollouts.task_id, rollouts.rollout_index;
