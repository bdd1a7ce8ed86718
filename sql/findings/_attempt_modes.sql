-- Which attempts bear each listed mode, passing ones too; those without a row by what became of them.
-- grain: benchmark, run_id, task_id, rollout_index, mode
-- kind: table
with modes as (
    select *
    from staging.modes
    where rank is not null
),
attempts as (
    select
        attempts.*,
        benchmark,
        coalesce(not is_pass, not is_scored) as is_failure
    from staging.attempts
    inner join staging.run_benchmarks using (run_id)
),
borne as (
    select
        run_id,
        task_id,
        rollout_index,
        modes.mode,
        modes.reason,
        modes.rank,
        modes.kind,
        signs.seq
    from main.signs
    inner join staging.run_benchmarks using (run_id)
    inner join modes using (benchmark, kind, name, value)
    union all by name
    -- A call that was never made is borne by those who did not make it.
    select
        run_id,
        task_id,
        rollout_index,
        modes.mode,
        modes.reason,
        modes.rank,
        modes.kind
    from modes
    inner join staging.run_benchmarks using (benchmark)
    inner join staging.rollouts using (run_id)
    -- Where the run has the tool at all.
    semi join (from main.signs where kind = 'call') as tools using (run_id, name)
    anti join (from main.signs where kind = 'call') as called
        using (run_id, task_id, rollout_index, name)
    where modes.value = 'never called' and modes.kind = 'call'
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
            coalesce('the log of the run is ' || logs.value, 'no failure recorded')
        ) as part
    from attempts
    left join (from staging.run_settings where name = 'log_status') as logs using (run_id)
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
