-- What each step of the funnel gave to a change, by where scored rollouts of shared tasks end.
-- grain: base, candidate, metric, line, effect
-- kind: step
-- needs: staging.run_pairs
with
-- Stages of both runs. What was scored was recorded, and whether it was expected is no step.
stages as (
    select
        pairs.base, pairs.candidate, bases.stage_no, bases.stage,
        row_number() over (partition by pairs.base, pairs.candidate order by bases.stage_no)
            as step_no
    from staging.run_pairs as pairs
    inner join main.funnel as bases on bases.run_id = pairs.base
    inner join main.funnel as candidates
        on candidates.run_id = pairs.candidate
        and candidates.stage_no = bases.stage_no
        and candidates.stage = bases.stage
    where bases.stage not in ('expected', 'recorded')
),
paths as (
    select base, candidate, list(stage_no order by step_no) as stage_nos
    from stages
    group by all
),
sides as (
    select
        base, candidate, task_id,
        unnest([base, candidate]) as run_id,
        unnest([base_n_scored, candidate_n_scored]) as n_scored,
        unnest([true, false]) as is_base
    from main.comparison_tasks
    where is_common
),
-- How many scored rollouts of a task show the same facts, and what they were worth together.
task_facts as (
    select
        run_id, task_id,
        facts.facts, facts.is_pass,
        count(*) as n_rollouts,
        sorted_sum(attempts.reward) as total_reward
    from staging.stage_facts as facts
    semi join staging.task_sides using (run_id, task_id)
    inner join staging.attempts using (run_id, task_id, rollout_index)
    where attempts.is_scored
    group by all
),
-- Rollouts that show the same facts end at the same step.
weighed as (
    select
        base, candidate,
        is_base, facts.facts, facts.is_pass,
        steady_sum(facts.n_rollouts / nullif(sides.n_scored, 0)) as weight,
        steady_sum(facts.total_reward / nullif(sides.n_scored, 0)) as reward
    from sides
    inner join task_facts as facts using (run_id, task_id)
    group by all
),
-- Before the first stage that it does not show; a pass has gone through all.
ended as (
    select
        weighed.*,
        case
            when weighed.is_pass then length(paths.stage_nos)
            else coalesce(
                list_position(
                    list_transform(
                        paths.stage_nos, lambda stage_no: substring(weighed.facts, stage_no, 1)
                    ),
                    '0'
                ) - 1,
                length(paths.stage_nos)
            )
        end as step_no
    from weighed
    inner join paths using (base, candidate)
),
steps as (
    select base, candidate, step_no, stage from stages
    union all
    select base, candidate, 0 as step_no, 'none' as stage from staging.run_pairs
)
select
    base, candidate,
    step_no, steps.stage,
    coalesce(steady_sum(case when ended.is_base then ended.weight end), 0) as base_weight,
    coalesce(steady_sum(case when ended.is_base then ended.reward end), 0) as base_reward,
    coalesce(steady_sum(case when not ended.is_base then ended.weight end), 0) as candidate_weight,
    coalesce(steady_sum(case when not ended.is_base then ended.reward end), 0) as candidate_reward
from steps
left join ended using (base, candidate, step_no)
group by all
order by base, candidate, step_no
