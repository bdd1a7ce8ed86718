-- Tasks of each run that never pass, those others pass or that came nearest first, and a pass of another run.
-- grain: run_id, task_id
-- needs: main.never_dives
with joined as (
    select
        dives.*,
        outcomes.benchmark,
        prompts.prompt,
        causes.cause,
        causes.confidence,
        causes.is_suggested,
        causes.note,
        causes.rule,
        causes.intervention,
        causes.evidence,
        causes.n_failing as n_attempts
    from main.never_dives as dives
    inner join main.task_outcomes as outcomes using (run_id, task_id)
    left join staging.run_tasks as questions using (run_id, task_id)
    left join main.task_prompts as prompts using (run_id, task_id, prompt_sha)
    left join main.root_causes as causes
        on causes.run_id = dives.run_id
        and causes.task_id = dives.task_id
),
ranked as (
    select
        *,
        count(*) over (partition by run_id) as n_dives,
        row_number() over (
            partition by run_id
            order by
                n_passing_runs desc,
                best_reward desc,
                coalesce(n_checks_passed, n_matched_actions, 0) desc,
                try_cast(task_id as bigint),
                task_id
        ) as rank
    from joined
),
chosen as (
    select * from ranked where rank <= 8
),
bests as (
    select
        chosen.run_id,
        chosen.task_id,
        chosen.benchmark,
        rollouts.prompt_sha,
        rollouts.final_text
    from chosen
    inner join main.rollouts
        on rollouts.run_id = chosen.run_id
        and rollouts.task_id = chosen.task_id
        and rollouts.run_id || '/' || rollouts.rollout_id = chosen.best_rollout
),
-- A pass of another run that was asked the same.
passes as (
    select
        bests.run_id,
        bests.task_id,
        rollouts.run_id || '/' || rollouts.rollout_id as passing,
        rollouts.final_text as passing_text,
        row_number() over (
            partition by bests.run_id, bests.task_id order by rollouts.run_id, rollouts.rollout_index
        ) as rank
    from bests
    inner join main.runs using (benchmark)
    inner join main.rollouts
        on rollouts.run_id = runs.run_id
        and rollouts.task_id = bests.task_id
        and rollouts.prompt_sha = bests.prompt_sha
    where rollouts.is_pass and rollouts.run_id <> bests.run_id
),
-- Where the comparison with such a run knows where a failure and a pass part.
flips as (
    select
        *,
        case side when 'lost' then candidate else base end as run_id,
        row_number() over (
            partition by case side when 'lost' then candidate else base end, task_id
            order by n_common_first desc, base, candidate
        ) as rank
    from main.flips
)
select
    chosen.*,
    flips.difference,
    flips.n_common_first,
    coalesce(flips.failing, chosen.best_rollout) as failing,
    coalesce(flips.passing, passes.passing) as passing,
    left(case when flips.task_id is null then bests.final_text else flips.failing_event end, 400)
        as failing_text,
    left(case when flips.task_id is null then passes.passing_text else flips.passing_event end, 400)
        as passing_text
from chosen
left join bests using (run_id, task_id)
left join passes
    on passes.run_id = chosen.run_id
    and passes.task_id = chosen.task_id
    and passes.rank = 1
left join flips
    on flips.run_id = chosen.run_id
    and flips.task_id = chosen.task_id
    and flips.rank = 1
order by chosen.run_id, chosen.rank
