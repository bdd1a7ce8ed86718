-- Tasks of each run that never pass, those others pass or that came nearest first.
-- With a pass of another run; how many such tasks the run has in all, and the mode that most share.
-- grain: run_id, task_id
-- needs: main.never_dives
with
-- Several modes may be equally common.
commonest as (
    select run_id, list(mode order by mode) as common_modes, max(n_tasks) as n_common_mode
    from (
        select run_id, mode, count(*) as n_tasks
        from main.never_dives
        where mode <> 'UNEXPLAINED'
        group by run_id, mode
        qualify rank() over (partition by run_id order by count(*) desc) = 1
    )
    group by all
),
-- Texts come last: a window over them would hold all of them.
chosen as materialized (
    select
        dives.*,
        count(*) over own as n_never_tasks,
        count(*) filter (where dives.n_passing_runs > 0) over own as n_passed_elsewhere,
        coalesce(commonest.common_modes, []) as common_modes,
        commonest.n_common_mode, outcomes.benchmark, questions.prompt_sha,
        row_number() over (
            partition by run_id
            order by
                dives.n_passing_runs desc,
                best_reward desc,
                coalesce(n_checks_passed, n_matched_actions, 0) desc,
                try_cast(task_id as bigint),
                task_id
        ) as rank
    from main.never_dives as dives
    inner join main.task_outcomes as outcomes using (run_id, task_id)
    left join staging.run_tasks as questions using (run_id, task_id)
    left join commonest using (run_id)
    window own as (partition by run_id)
    qualify rank <= 8
),
prompts as (
    select chosen.run_id, chosen.task_id, texts.prompt
    from chosen
    inner join staging.task_prompts as prompts using (run_id, task_id, prompt_sha)
    inner join raw.texts on texts.record_id = prompts.prompt_record
),
bests as materialized (
    select chosen.run_id, chosen.task_id, chosen.benchmark, rollouts.prompt_sha, rollouts.record_id
    from chosen
    inner join staging.rollouts
        on rollouts.run_id = chosen.run_id
        and rollouts.task_id = chosen.task_id
        and rollouts.run_id || '/' || rollouts.rollout_id = chosen.best_rollout
),
-- A pass of another run that was asked the same.
passes as materialized (
    select
        bests.run_id, bests.task_id,
        rollouts.run_id || '/' || rollouts.rollout_id as passing,
        rollouts.record_id
    from bests
    inner join main.runs using (benchmark)
    inner join staging.rollouts
        on rollouts.run_id = runs.run_id
        and rollouts.task_id = bests.task_id
        and rollouts.prompt_sha = bests.prompt_sha
    where rollouts.is_pass and rollouts.run_id <> bests.run_id
    qualify row_number() over (
        partition by bests.run_id, bests.task_id order by rollouts.run_id, rollouts.rollout_index
    ) = 1
),
last_words as (
    select record_id, left(final_text, 400) as final_text
    from staging.final_texts
    semi join (
        select record_id from bests
        union all
        select record_id from passes
    ) using (record_id)
),
-- Where the comparison with such a run knows where a failure and a pass part.
flips as (
    select
        *,
        case side when 'lost' then candidate else base end as run_id
    from main.flips
    qualify row_number() over (
        partition by case side when 'lost' then candidate else base end, task_id
        order by n_common_first desc, base, candidate
    ) = 1
)
select
    chosen.* exclude (prompt_sha),
    prompts.prompt, causes.cause, causes.confidence, causes.is_suggested, causes.note, causes.rule,
    causes.evidence,
    coalesce(flips.failing, chosen.best_rollout) as failing,
    chosen.best_rollout || '#' || chosen.wrong_seq as wrong_place,
    coalesce(flips.passing, passes.passing) as passing,
    case when flips.task_id is null then best_words.final_text else left(flips.failing_event, 400) end as failing_text,
    case when flips.task_id is null then passing_words.final_text else left(flips.passing_event, 400) end
        as passing_text
from chosen
left join prompts using (run_id, task_id)
left join main.root_causes as causes using (run_id, task_id)
left join bests using (run_id, task_id)
left join passes using (run_id, task_id)
left join last_words as best_words on best_words.record_id = bests.record_id
left join last_words as passing_words on passing_words.record_id = passes.record_id
left join flips using (run_id, task_id)
order by run_id, chosen.rank
