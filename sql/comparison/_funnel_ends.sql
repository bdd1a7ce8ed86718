-- After how many steps the scored rollouts of a comparison's shared tasks end, each task weighing alike.
-- grain: base, candidate, side, step_no
-- kind: table
with sides as (
    select
        base,
        candidate,
        'base' as side,
        base as run_id,
        task_id,
        base_n_scored as n_scored
    from main.comparison_tasks
    where is_common
    union all
    select
        base,
        candidate,
        'candidate' as side,
        candidate as run_id,
        task_id,
        candidate_n_scored as n_scored
    from main.comparison_tasks
    where is_common
),
-- How many scored rollouts of a task show the same facts, and what they were worth together.
task_facts as (
    select
        facts.run_id,
        facts.task_id,
        facts.facts,
        facts.is_pass,
        count(*) as n_rollouts,
        sorted_sum(attempts.reward) as total_reward
    from staging.stage_facts as facts
    inner join staging.task_sides as sides using (run_id, task_id)
    inner join staging.attempts using (run_id, task_id, rollout_index)
    where attempts.is_scored
    group by facts.run_id, facts.task_id, facts.facts, facts.is_pass
),
-- Rollouts that show the same facts end at the same step.
weighed as (
    select
        sides.base,
        sides.candidate,
        sides.side,
        facts.facts,
        facts.is_pass,
        steady_sum(facts.n_rollouts / nullif(sides.n_scored, 0)) as weight,
        steady_sum(facts.total_reward / nullif(sides.n_scored, 0)) as reward
    from sides
    inner join task_facts as facts using (run_id, task_id)
    group by sides.base, sides.candidate, sides.side, facts.facts, facts.is_pass
),
-- Before the first stage that it does not show; a pass has gone through all.
ended as (
    select
        weighed.base,
        weighed.candidate,
        weighed.side,
        weighed.facts,
        weighed.is_pass,
        weighed.weight,
        weighed.reward,
        count(*) as n_stages,
        min(stages.step_no) filter (
            where
                substring(weighed.facts, stages.stage_no, 1) = '0'
                and not coalesce(weighed.is_pass, false)
        ) as missed_no
    from weighed
    inner join staging.pair_stages as stages using (base, candidate)
    group by all
)
select
    base,
    candidate,
    side,
    coalesce(missed_no - 1, n_stages) as step_no,
    steady_sum(weight) as weight,
    steady_sum(reward) as reward
from ended
group by all
