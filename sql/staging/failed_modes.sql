-- The modes of every attempt that did not pass, the primary one first; UNEXPLAINED without any.
-- grain: run_id, task_id, rollout_index, mode
-- kind: table
with

failing as (

    select
        run_id,
        task_id,
        rollout_index,
        benchmark

    from main.rollout_features

    -- Where what passes is unsettled, nothing that was scored has failed.
    where coalesce(not is_pass, not is_scored)

),

matched as (

    select
        failing.run_id,
        failing.task_id,
        failing.rollout_index,
        matches.rule_no,
        rules.mode,
        rules.predicate as rule,
        rules.cause,
        rules.severity,
        rules.intervention,
        matches.seq,
        matches.told,
        matches.n_told

    from failing

    inner join staging.rule_matches as matches using (run_id, task_id, rollout_index)

    inner join raw.failure_rules as rules using (rule_no)

    left join staging.mode_signals as signals using (benchmark, rule_no)

    where not coalesce(signals.is_no_sign, false)

),

explained as (

    select
        run_id,
        task_id,
        rollout_index

    from matched

    group by all

),

unexplained as (

    select
        failing.run_id,
        failing.task_id,
        failing.rollout_index,
        cast(null as bigint) as rule_no,
        'UNEXPLAINED' as mode,
        cast(null as varchar) as rule,
        'UNEXPLAINED' as cause,
        cast(0 as bigint) as severity,
        cast(null as varchar) as intervention,
        cast(null as bigint) as seq,
        cast(null as varchar) as told,
        cast(null as bigint) as n_told

    from failing

    left join explained using (run_id, task_id, rollout_index)

    where explained.run_id is null

),

every as (

    select * from matched

    union all

    select * from unexplained

),

final as (

    select
        *,
        row_number() over (
            partition by run_id, task_id, rollout_index order by severity desc, rule_no
        ) = 1 as is_primary

    from every

)

select * from final
