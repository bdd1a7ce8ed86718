-- A task that never passes: what its attempts share, how far the best one got, and its first wrong step.
-- grain: run_id, task_id
-- kind: table
-- needs: main.task_outcomes where bucket = 'never'
with outcomes as (from main.task_outcomes where bucket = 'never'),
modes as (
    select run_id, task_id, mode, count(*) as n_with_mode
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
        rollouts.answer, stages.last_stage_no, stages.last_stage,
        -- The first wrong change, else the check that most attempts fail, else the last error.
        case
            when changes.status is not null
                then {kind: changes.status, name: changes.tool, seq: changes.seq, detail: changes.detail}
            when len(failed_check_names) > 0
                then {kind: 'check', name: failed_check_names[1], seq: null, detail: failed_checks}
            else last_errors.error
        end as wrong,
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
    left join (from main.expected_calls where is_first) as changes
        using (run_id, task_id, rollout_index)
    left join (
        select
            run_id, task_id, rollout_index,
            arg_max(
                {kind: 'error', name: signature, seq: nullif(place, 0), detail: message}, place
            ) as error
        from staging.errors
        where source <> 'failed attempt'
        group by all
    ) as last_errors using (run_id, task_id, rollout_index)
    semi join outcomes using (run_id, task_id)
),
bests as (
    select
        run_id, task_id,
        count(*) filter (where is_best) as n_best,
        list({kind: wrong.kind, name: wrong.name}) as wrongs,
        arg_min(
            {
                best_reward: reward,
                best_rollout: citation,
                n_checks_passed: n_checks_passed,
                n_checks: n_checks_passed + n_checks_failed,
                n_matched_actions: n_matched_actions,
                n_expected_actions: n_expected_actions,
                wrong: wrong
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
    select run_id, task_id, list(tool order by tool) as shared_tools
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
    outcomes.n_scored, mode, n_with_mode, last_stage, n_at_last_stage, error_signature,
    coalesce(n_with_error, 0) as n_with_error,
    coalesce(shared_tools, []) as shared_tools,
    shared_answer, best.best_reward, best.best_rollout, n_best, best.n_checks_passed,
    best.n_checks, best.n_matched_actions, best.n_expected_actions,
    best.wrong.kind as wrong_kind,
    best.wrong.name as wrong_name,
    best.wrong.seq as wrong_seq,
    best.wrong.detail as wrong_detail,
    list_count(list_filter(
        bests.wrongs, lambda each: each.kind = best.wrong.kind and each.name = best.wrong.name
    )) as n_wrong_alike,
    passes.n_passing_runs, passes.n_runs
from outcomes
inner join staging.run_tasks as passes using (run_id, task_id)
inner join bests using (run_id, task_id)
inner join stages using (run_id, task_id)
inner join modes using (run_id, task_id)
left join errors using (run_id, task_id)
left join tools using (run_id, task_id)
