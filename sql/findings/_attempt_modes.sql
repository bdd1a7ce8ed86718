-- Which attempts bear each listed mode, passing ones too; those without a row by what became of them.
-- Of attempts without a grade, `part` is what else the record says of it, `ended_by` whether that is a limit
-- or the text of an error.
-- grain: benchmark, run_id, task_id, rollout_index, mode
-- looks at: run
-- kind: table
-- needs: staging.modes where rank is not null | staging.attempts where not is_recorded
with modes as (
    select *
    from staging.modes
    where rank is not null
),
logs as (
    select
        run_id,
        'the log of the run is ' || value as state
    from staging.run_settings
    where name = 'log_status'
),
-- An attempt may be in a line that is none.
damaged as (
    select distinct
        run_id,
        'its file has unusable lines' as state
    from main.artifacts
    where n_rejects > 0 and kind = 'rollouts'
),
attempts as (
    select
        attempts.*,
        benchmark,
        coalesce(not is_pass, not is_scored) as is_failure
    from staging.attempts
    inner join staging.run_benchmarks using (run_id)
),
signs as (
    select
        run_id,
        task_id,
        rollout_index,
        benchmark,
        kind,
        name,
        value,
        seq
    from staging.signs
    inner join staging.run_benchmarks using (run_id)
    union all by name
    -- A call that was never made is borne by those who did not make it, where the run has the tool at all.
    select
        run_id,
        task_id,
        rollout_index,
        benchmark,
        modes.kind,
        modes.name,
        modes.value
    from modes
    inner join staging.run_benchmarks using (benchmark)
    inner join staging.rollouts using (run_id)
    semi join (from staging.signs where kind = 'call') as tools using (run_id, name)
    anti join (from staging.signs where kind = 'call') as called
        using (run_id, task_id, rollout_index, name)
    -- Who broke down left out every call after it.
    anti join staging.ungraded using (record_id)
    where modes.value = 'never called' and modes.kind = 'call'
),
-- Of several limits the one that most attempts of the benchmark reach.
limits as (
    select
        run_id,
        task_id,
        rollout_index,
        arg_min(sign, (-n_attempts, sign)) as sign
    from staging.signs
    inner join staging.run_benchmarks using (run_id)
    inner join (
        select
            benchmark,
            sign,
            count(*) as n_attempts
        from staging.signs
        inner join staging.run_benchmarks using (run_id)
        where kind = 'limit'
        group by all
    ) as reached using (benchmark, sign)
    where kind = 'limit'
    group by all
),
-- An error of the row itself, not of one of its calls.
stated as (
    select
        run_id,
        task_id,
        rollout_index,
        arg_max(sign, (length(value), sign)) as error
    from staging.signs
    where kind = 'error' and seq is null and value <> 'recorded'
    group by all
),
borne as (
    select
        signs.run_id,
        signs.task_id,
        signs.rollout_index,
        modes.mode,
        modes.reason,
        modes.rank,
        modes.kind,
        signs.seq,
        if(
            modes.kind = 'ungraded',
            coalesce(ungraded.error, limits.sign, stated.error, logs.state, 'no error recorded'),
            null
        ) as part,
        case
            when modes.kind <> 'ungraded' then null
            when limits.sign is not null then 'limit'
            when ungraded.is_message or stated.error is not null then 'error'
        end as ended_by
    from signs
    inner join modes using (benchmark, kind, name, value)
    inner join staging.rollouts using (run_id, task_id, rollout_index)
    left join staging.ungraded using (record_id)
    left join limits using (run_id, task_id, rollout_index)
    left join stated using (run_id, task_id, rollout_index)
    left join logs using (run_id)
    union all by name
    select
        run_id,
        task_id,
        rollout_index,
        'no row recorded' as mode,
        'ungraded' as reason,
        0 as rank,
        'ungraded' as kind,
        if(
            outcome = 'failed attempt',
            'attempt failed: ' || coalesce(failure_class, 'no class recorded'),
            coalesce(logs.state, damaged.state, 'no failure recorded')
        ) as part
    from attempts
    left join logs using (run_id)
    left join damaged using (run_id)
    where not is_recorded
)
select
    attempts.benchmark,
    borne.*,
    attempts.is_failure,
    attempts.is_pass,
    attempts.is_recorded,
    attempts.failure_message
from borne
inner join attempts using (run_id, task_id, rollout_index)
