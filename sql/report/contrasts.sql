-- The most telling contrasts of each run: a pass and a failure of one task, side by side.
-- grain: run_id, task_id
-- looks at: run
-- kind: table
-- needs: staging.contrast_pairs
with
-- What goes together longest before it diverges shows the decision best. Texts come last: a window over
-- them would hold all of them.
chosen as materialized (
    select
        contrasts.*,
        outcomes.n_passed,
        outcomes.n_scored,
        row_number() over (
            partition by run_id
            order by
                difference = 'answer',
                n_common_first desc,
                abs(2 * n_passed - n_scored),
                try_cast(task_id as bigint),
                task_id
        ) as rank
    from main.contrasts
    inner join main.task_outcomes as outcomes using (run_id, task_id)
    inner join staging.rollouts using (run_id, task_id, rollout_index)
    where
        contrasts.is_closest
        and (failing_event is not null or passing_event is not null)
        and difference <> 'nothing'
        and not is_other_way(contrasts)
        -- The last words of a conversation are often a farewell.
        and (difference <> 'answer' or record_id not in (select record_id from raw.events where role = 'user'))
    qualify rank <= 6
),
questions as (
    select
        chosen.run_id,
        chosen.task_id,
        own_question(texts.prompt, chosen.task_id, tasks) as prompt
    from chosen
    inner join staging.run_tasks using (run_id, task_id)
    inner join staging.task_prompts as prompts using (run_id, task_id, prompt_sha)
    inner join raw.texts on texts.record_id = prompts.prompt_record
    inner join staging.tasks on tasks.benchmark = prompts.benchmark and tasks.task_id = prompts.task_id
)
select
    chosen.*,
    questions.prompt,
    causes.cause,
    causes.source as cause_source,
    causes.note,
    coalesce(causes.evidence, []) as evidence,
    -- What the pass beside it has as well is no difference.
    if(coalesce(is_of_pass, false), null, modes.mode) as mode,
    coalesce(notes.notes, []) as notes,
    run_id || '/' || task_id || ':' || chosen.rollout_index || coalesce('#' || chosen.seq, '')
        as failing,
    run_id || '/' || task_id || ':' || chosen.passing_index || coalesce('#' || chosen.passing_seq, '')
        as passing
from chosen
left join questions using (run_id, task_id)
left join main.root_causes as causes using (run_id, task_id)
left join main.rollout_modes as modes
    on modes.run_id = chosen.run_id
    and modes.task_id = chosen.task_id
    and modes.rollout_index = chosen.rollout_index
    and modes.is_primary
left join (
    select
        run_id,
        task_id,
        rollout_index as passing_index,
        mode,
        true as is_of_pass
    from staging.attempt_modes
) as of_pass using (run_id, task_id, passing_index, mode)
left join (
    select
        run_id,
        task_id,
        rollout_index,
        list(note order by note_no)[:3] as notes
    from main.failure_notes
    inner join chosen using (run_id, task_id, rollout_index)
    -- A call that the pass beside it does not make as expected either is no difference.
    anti join (from main.expected_calls where status not in ('made', 'none', 'unasked')) as shared
        on shared.run_id = chosen.run_id
        and shared.task_id = chosen.task_id
        and shared.rollout_index = chosen.passing_index
        and failure_notes.kind = 'expected'
        and starts_with(failure_notes.note, shared.tool || ' ')
    anti join staging.signs
        on signs.run_id = chosen.run_id
        and signs.task_id = chosen.task_id
        and signs.rollout_index = chosen.passing_index
        and signs.sign = failure_notes.note
    group by all
) as notes
    on notes.run_id = chosen.run_id
    and notes.task_id = chosen.task_id
    and notes.rollout_index = chosen.rollout_index
order by run_id, rank
