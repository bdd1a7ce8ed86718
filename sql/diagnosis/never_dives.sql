-- A task that never passes: where its attempts stop, what they share, and how far the best one got.
-- grain: run_id, task_id
-- kind: table
-- needs: main.task_outcomes where bucket = 'never'
with outcomes as (
    select * from main.task_outcomes where bucket = 'never'
),
modes as (
    select
        run_id, task_id, mode,
        count(*) as n_with_mode
    from main.rollout_modes
    semi join outcomes using (run_id, task_id)
    where is_primary
    group by run_id, task_id, mode
    qualify row_number() over (partition by run_id, task_id order by count(*) desc, mode) = 1
),
-- By reward, then by the verifier's own checks, then by how far it got.
rollouts as materialized (
    select
        features.*,
        run_id || '/' || rollouts.rollout_id as citation,
        rollouts.answer,
        stages.last_stage_no,
        stages.last_stage,
        rank() over (
            partition by run_id, task_id
            order by
                features.reward desc nulls last,
                n_checks_passed desc nulls last,
                n_matched_actions desc nulls last,
                last_stage_no desc nulls last
        ) = 1 as is_best
    from main.rollout_features as features
    inner join staging.rollouts using (run_id, task_id, rollout_index)
    left join main.rollout_stages as stages using (run_id, task_id, rollout_index)
    semi join outcomes using (run_id, task_id)
),
bests as (
    select
        run_id, task_id,
        count(*) filter (where is_best) as n_best,
        arg_min(
            {
                best_reward: reward,
                best_rollout: citation,
                n_checks_passed: n_checks_passed,
                n_checks: n_checks_passed + n_checks_failed,
                n_matched_actions: n_matched_actions,
                n_expected_actions: n_expected_actions
            },
            rollout_index
        ) filter (where is_best) as best,
        case
            when count(distinct answer) = 1 and count(answer) = count(*) then left(min(answer), 200)
        end as shared_answer
    from rollouts
    group by all
),
-- The stage at which most scored rollouts stop.
stages as (
    select
        run_id, task_id,
        last_stage,
        count(*) as n_at_last_stage
    from rollouts
    where reward is not null
    group by run_id, task_id, last_stage_no, last_stage
    qualify row_number() over (partition by run_id, task_id order by count(*) desc, last_stage_no) = 1
),
-- The error that most attempts have in common; a failed attempt is not among those compared.
errors as (
    select
        run_id, task_id,
        signature as error_signature,
        count(distinct rollout_index) as n_with_error
    from staging.errors
    semi join outcomes using (run_id, task_id)
    where source <> 'failed attempt'
    group by run_id, task_id, source, signature
    qualify row_number() over (
        partition by run_id, task_id order by n_with_error desc, source, signature
    ) = 1
),
-- The tools that every recorded attempt calls.
tools as (
    select
        run_id, task_id,
        list(tool order by tool) as shared_tools
    from (
        select run_id, task_id, tool, n_rollouts
        from (select distinct record_id, tool from staging.calls where tool <> '')
        inner join staging.rollout_keys using (record_id)
        inner join outcomes using (run_id, task_id)
        group by all
        having count(*) = n_rollouts
    )
    group by all
)
select
    run_id, task_id,
    outcomes.n_scored,
    mode,
    n_with_mode,
    last_stage,
    n_at_last_stage,
    error_signature,
    coalesce(n_with_error, 0) as n_with_error,
    coalesce(shared_tools, []) as shared_tools,
    shared_answer,
    best.best_reward,
    best.best_rollout,
    n_best,
    best.n_checks_passed,
    best.n_checks,
    best.n_matched_actions,
    best.n_expected_actions,
    passes.n_passing_runs,
    passes.n_runs
from outcomes
inner join staging.run_tasks as passes using (run_id, task_id)
inner join bests using (run_id, task_id)
inner join stages using (run_id, task_id)
inner join modes using (run_id, task_id)
left join errors using (run_id, task_id)
left join tools using (run_id, task_id)
