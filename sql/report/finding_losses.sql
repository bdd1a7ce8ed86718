-- Where a run loses most, and what could return most: stage, mode, retries, intervention.
-- The stake is the middle of what it could return; where only the most is known, half of that.
-- grain: run_id, kind
with
-- Rows that are not there are told by how far they could move the score.
stages as (
    select
        run_id,
        stage,
        n_lost,
        n_reached + n_lost as n_before,
        max(n_reached) over (partition by run_id) as n_attempts,
        lag(stage_no) over (partition by run_id order by stage_no) as stage_before,
        row_number() over (
            partition by run_id
            order by stage in ('recorded', 'passed') or drop_rank is null, drop_rank, stage_no
        ) as rank
    from main.funnel
),
lost as (
    select
        stages.run_id,
        stages.stage,
        min(run_id || '/' || ends.task_id || ':' || ends.rollout_index) as example
    from stages
    inner join main.rollout_stages as ends using (run_id)
    where stages.rank = 1 and ends.last_stage_no = stages.stage_before
    group by all
),
funnel as (
    select
        stages.run_id,
        'funnel' as kind,
        stages.n_lost / nullif(2 * stages.n_attempts, 0) as stake,
        stages.stage as subject,
        stages.n_lost as n_concerned,
        stages.n_before as n_total,
        stages.n_lost / nullif(stages.n_before, 0) as share,
        lost.example
    from stages
    left join lost using (run_id, stage)
    where stages.rank = 1 and stages.n_lost > 0 and stages.stage not in ('recorded', 'passed')
),
-- What no rule explains is told apart from what most have.
modes as (
    select
        run_id,
        case when is_unexplained then 'unexplained' else 'mode' end as kind,
        (gain_low + gain_high) / 2 as stake,
        mode as subject,
        title,
        n_rollouts as n_concerned,
        n_failures as n_total,
        share_of_failures as share,
        example
    from report.modes
    where is_dominant or is_unexplained
),
retries as (
    select
        heads.run_id,
        'retries' as kind,
        heads.retry_value / 2 as stake,
        heads.retry_value as value,
        heads.pass_at_1 as low,
        heads.pass_at_k as high,
        heads.n_sometimes_tasks as n_concerned,
        heads.n_scored_tasks as n_total,
        contrasts.failing as example
    from report.headlines as heads
    left join report.contrasts
        on contrasts.run_id = heads.run_id
        and contrasts.rank = 1
    where not heads.is_single_repeat
),
interventions as (
    select
        interventions.run_id,
        'intervention' as kind,
        (interventions.gain_low + interventions.gain_high) / 2 as stake,
        interventions.intervention as subject,
        interventions.gain_low as low,
        interventions.gain_high as high,
        interventions.n_rollouts as n_concerned,
        failures.n_failures as n_total,
        interventions.n_rollouts / nullif(failures.n_failures, 0) as share,
        interventions.citations[1] as example
    from main.interventions
    inner join (select run_id, max(n_failures) as n_failures from main.failure_modes group by all) as failures
        using (run_id)
    where interventions.rank = 1
)
select * from funnel
union all by name
select * from modes
union all by name
select * from retries
union all by name
select * from interventions
