-- The most telling contrasts of each run: a pass and a failure of one task, side by side.
-- grain: run_id, task_id
-- needs: staging.contrast_pairs
with closest as (
    select
        contrasts.*,
        prompts.prompt,
        causes.cause,
        causes.confidence,
        causes.is_suggested,
        causes.note,
        causes.rule,
        causes.intervention,
        causes.evidence,
        modes.mode,
        outcomes.n_passed,
        outcomes.n_scored,
        contrasts.run_id || '/' || contrasts.task_id || ':' || contrasts.rollout_index
            || coalesce('#' || contrasts.seq, '') as failing,
        contrasts.run_id || '/' || contrasts.task_id || ':' || contrasts.passing_index
            || coalesce('#' || contrasts.passing_seq, '') as passing
    from main.contrasts
    inner join main.task_outcomes as outcomes using (run_id, task_id)
    left join staging.run_tasks as questions using (run_id, task_id)
    left join main.task_prompts as prompts using (run_id, task_id, prompt_sha)
    left join main.root_causes as causes
        on causes.run_id = contrasts.run_id
        and causes.task_id = contrasts.task_id
    left join main.rollout_modes as modes
        on modes.run_id = contrasts.run_id
        and modes.task_id = contrasts.task_id
        and modes.rollout_index = contrasts.rollout_index
        and modes.is_primary
    where contrasts.is_closest
),
-- What goes together longest before it parts shows the decision best.
ranked as (
    select
        *,
        count(*) over (partition by run_id) as n_contrasts,
        row_number() over (
            partition by run_id
            order by
                difference in ('answer', 'nothing'),
                n_common_first desc,
                abs(2 * n_passed - n_scored),
                try_cast(task_id as bigint),
                task_id
        ) as rank
    from closest
)
select * from ranked where rank <= 6 order by run_id, rank
