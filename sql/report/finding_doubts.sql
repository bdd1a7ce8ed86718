-- What makes the score of a run doubtful, by how far it could move it.
-- grain: run_id, kind
with nothing_scored as (
    select
        run_id,
        'unscored' as kind,
        true as is_overturning,
        1 as stake,
        n_rollouts as n_total
    from report.headlines as heads
    where is_unscored
),
unsettled as (
    select
        run_id,
        'unsettled' as kind,
        true as is_overturning,
        1 as stake,
        min_reward as low,
        max_reward as high,
        n_scored as n_total
    from report.headlines as heads
    where is_unsettled
),
-- Failed attempts that no rollout made good.
failed as (
    select
        failures.run_id,
        count(distinct (failures.task_id, failures.rollout_index)) as n_failed
    from main.failures
    left join main.rollouts using (run_id, task_id, rollout_index)
    where rollouts.run_id is null
    group by all
),
-- Nothing says what was expected, and something shows that not all of it is here.
unknown as (
    select
        heads.run_id,
        'unknown' as kind,
        true as is_overturning,
        greatest(
            coalesce(failed.n_failed, 0) / nullif(heads.n_rollouts + coalesce(failed.n_failed, 0), 0),
            coalesce(heads.n_inferred_missing_tasks, 0)
                / nullif(heads.n_scored_tasks + coalesce(heads.n_inferred_missing_tasks, 0), 0)
        ) as stake,
        coalesce(failed.n_failed, 0) as n_concerned,
        coalesce(heads.n_inferred_missing_tasks, 0) as n_tasks,
        heads.n_rollouts as n_total
    from report.headlines as heads
    left join failed using (run_id)
    where
        heads.is_expected_unknown
        and not heads.is_unscored
        and (heads.has_inferred or failed.n_failed > 0)
),
missing as (
    select
        policies.run_id,
        'missing' as kind,
        false as is_overturning,
        greatest(
            policies.pass_at_1 - policies.pass_at_1_worst,
            policies.pass_at_1_best - policies.pass_at_1
        ) as stake,
        policies.pass_at_1 as value,
        policies.pass_at_1_worst as low,
        policies.pass_at_1_best as high,
        policies.n_left_out as n_concerned,
        policies.n_left_out + policies.n_rollouts as n_total
    from main.denominators as policies
    where policies.policy = 'dropped' and policies.n_left_out > 0 and policies.n_rollouts > 0
)
select * from nothing_scored
union all by name
select * from unsettled
union all by name
select * from unknown
union all by name
select * from missing
