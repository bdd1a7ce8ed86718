-- A task that never passes: where its attempts stop, what they share, and how far the best one got.
-- grain: run_id, task_id
-- kind: table
with outcomes as (
    select * from main.task_outcomes where bucket = 'never'
),
modes as (
    select
        run_id,
        task_id,
        mode,
        count(*) as n_rollouts,
        row_number() over (partition by run_id, task_id order by count(*) desc, mode) as rank
    from main.rollout_modes
    where is_primary
    group by run_id, task_id, mode
),
-- The recorded rollouts of tasks that never pass, with how far each got.
never_rollouts as materialized (
    select
        features.run_id,
        features.task_id,
        features.rollout_index,
        features.run_id || '/' || rollouts.rollout_id as citation,
        features.reward,
        features.n_checks_passed,
        features.n_checks_failed,
        features.n_matched_actions,
        features.n_expected_actions,
        rollouts.answer,
        stages.last_stage_no,
        stages.last_stage
    from main.task_outcomes as outcomes
    inner join main.rollout_features as features using (run_id, task_id)
    inner join main.rollouts using (run_id, task_id, rollout_index)
    left join main.rollout_stages as stages using (run_id, task_id, rollout_index)
    where outcomes.bucket = 'never'
),
-- By reward, then by the verifier's own checks, then by how far it got.
ranked as (
    select
        *,
        row_number() over (
            partition by run_id, task_id
            order by
                reward desc nulls last,
                n_checks_passed desc nulls last,
                n_matched_actions desc nulls last,
                last_stage_no desc nulls last,
                rollout_index
        ) as rank,
        count(*) over (
            partition by run_id, task_id, reward, n_checks_passed, n_matched_actions, last_stage_no
        ) as n_best
    from never_rollouts
),
-- The rollout that came nearest, of each task that never passes.
never_bests as (
    select
        run_id,
        task_id,
        citation,
        reward,
        n_checks_passed,
        n_checks_passed + n_checks_failed as n_checks,
        n_matched_actions,
        n_expected_actions,
        n_best
    from ranked
    where rank = 1
),
never_errors_outcomes as (
    select run_id, task_id
    from main.task_outcomes
    where bucket = 'never'
),
counted as (
    select
        errors.run_id,
        errors.task_id,
        errors.source,
        errors.signature,
        count(distinct errors.rollout_index) as n_rollouts
    from staging.errors
    inner join never_errors_outcomes as outcomes using (run_id, task_id)
    -- A failed attempt is not among the rollouts whose errors are compared.
    where errors.source <> 'failed attempt'
    group by all
),
never_errors_ranked as (
    select
        *,
        row_number() over (
            partition by run_id, task_id order by n_rollouts desc, source, signature
        ) as rank
    from counted
),
-- The error that most attempts at a task that never passes have in common.
never_errors as (
    select run_id, task_id, source, signature, n_rollouts
    from never_errors_ranked as ranked
    where rank = 1
),
never_stages_counted as (
    select
        run_id,
        task_id,
        last_stage,
        count(*) as n_rollouts,
        row_number() over (
            partition by run_id, task_id order by count(*) desc, last_stage_no
        ) as rank
    from never_rollouts
    group by run_id, task_id, last_stage_no, last_stage
),
answers as (
    select
        run_id,
        task_id,
        case when count(distinct answer) = 1 and count(answer) = count(*) then left(min(answer), 200) end
            as shared_answer
    from never_rollouts
    group by all
),
-- The stage at which most rollouts of a task that never passes stop, and the answer all of them give.
never_stages as (
    select
        counted.run_id,
        counted.task_id,
        counted.last_stage,
        counted.n_rollouts,
        answers.shared_answer
    from never_stages_counted as counted
    inner join answers using (run_id, task_id)
    where counted.rank = 1
),
recorded as (
    select outcomes.run_id, outcomes.task_id, outcomes.n_rollouts
    from main.task_outcomes as outcomes
    where outcomes.bucket = 'never'
),
used as (
    select
        run_id,
        task_id,
        calls.tool,
        count(distinct rollout_index) as n_rollouts
    from staging.calls
    inner join staging.rollout_keys using (record_id)
    inner join recorded using (run_id, task_id)
    where calls.tool <> ''
    group by all
),
-- The tools that every recorded attempt at a task that never passes calls.
never_tools as (
    select
        used.run_id,
        used.task_id,
        values_by(used.tool, used.tool) as tools
    from used
    inner join recorded using (run_id, task_id)
    where used.n_rollouts = recorded.n_rollouts
    group by all
)
select
    outcomes.run_id,
    outcomes.task_id,
    outcomes.n_scored,
    modes.mode,
    modes.n_rollouts as n_with_mode,
    stages.last_stage,
    stages.n_rollouts as n_at_last_stage,
    errors.signature as error_signature,
    coalesce(errors.n_rollouts, 0) as n_with_error,
    coalesce(tools.tools, []) as shared_tools,
    stages.shared_answer,
    bests.reward as best_reward,
    bests.citation as best_rollout,
    bests.n_best,
    bests.n_checks_passed,
    bests.n_checks,
    bests.n_matched_actions,
    bests.n_expected_actions,
    passes.n_passing_runs,
    passes.n_runs
from outcomes
inner join staging.run_tasks as passes using (run_id, task_id)
inner join never_bests as bests using (run_id, task_id)
inner join never_stages as stages using (run_id, task_id)
inner join modes
    on modes.run_id = outcomes.run_id
    and modes.task_id = outcomes.task_id
    and modes.rank = 1
left join never_errors as errors
    on errors.run_id = outcomes.run_id
    and errors.task_id = outcomes.task_id
left join never_tools as tools
    on tools.run_id = outcomes.run_id
    and tools.task_id = outcomes.task_id
