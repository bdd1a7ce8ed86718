-- What to look into first about a run's failures, with counts, what they are of, and rollouts to open.
-- Kind 1: the score is wrong; 2: cut off or lost; 3: signs that go with failing; 4: never-pass tasks alike.
-- grain: run_id, rank
-- kind: table
-- needs: main.rollout_modes
with failing as (
    select
        run_id, task_id, rollout_index,
        mode, cause, source, is_description,
        case
            when rollout_keys.record_id is not null
                then run_id || '/' || task_id || ':' || rollout_index || coalesce('#' || evidence_seq, '')
        end as citation
    from main.rollout_modes
    left join staging.rollout_keys using (run_id, task_id, rollout_index)
    where is_primary
),
totals as (
    select run_id, count(*) as n_failures
    from failing
    group by all
),
labelled as (
    select
        *,
        case
            when mode in ('UNGRADED', 'UNSCORED_REWARD', 'JUDGE_FAILED') then 'ungraded'
            when mode = 'CUT_OFF' then 'cut off'
            when mode like '%=%' and source = 'record' and cause = 'TI' then 'ungraded'
            when mode like '%=%' and source = 'record' and cause = 'BI' then 'cut off'
            when cause = 'IR' or mode in ('UNREADABLE_ROW', 'FAILED_ATTEMPT') then 'infrastructure'
        end as topic
    from failing
    where not is_description
),
-- Limits differ; what was not graded, or lost, is one thing to do.
recorded as (
    select
        run_id, topic,
        if(topic = 'cut off', mode, '') as limit_mode,
        array_to_string(list(distinct mode order by mode), ', ') as subject,
        count(*) as n_rollouts,
        count(distinct task_id) as n_tasks,
        min_by(citation, (task_id, rollout_index), 2) filter (where citation is not null) as citations
    from labelled
    where topic is not null
    group by all
),
suspected as (
    select
        run_id,
        'suspect' as topic,
        rule as subject,
        min(regexp_replace(note, ': .*$', '')) as note,
        cast(sum(n_with) as bigint) as n_rollouts,
        count(*) as n_tasks,
        -- Other runs and passes may bear witness; what is cited is a failure of this one.
        list(list_filter(
            evidence,
            lambda cited: starts_with(cited, run_id || '/')
                and not list_contains(coalesce(passes, []), regexp_replace(cited, '#[0-9]+$', ''))
        )[1] order by n_with desc, task_id)[:2] as citations
    from staging.cause_signals
    left join (
        select run_id, task_id, list(run_id || '/' || rollout_id) as passes
        from staging.rollouts
        where is_pass
        group by all
    ) using (run_id, task_id)
    where
        cause in ('TI', 'DA') and n_with > 0 and rule <> 'dominant_mode'
        and (is_proven or is_commoner and (level > 1 or rule = 'suspect_check'))
        and rule not in ('verifier_error', 'limit_for_all', 'unreadable_rows')
    group by run_id, rule
),
associated as (
    select
        associations.run_id,
        'association' as topic,
        sign as subject,
        n_signed as n_rollouts,
        n_signed + n_unsigned as n_total,
        share, risk_difference, risk_low, risk_high, points,
        count(distinct task_id) as n_tasks,
        min_by(
            run_id || '/' || task_id || ':' || rollout_index || coalesce('#' || seq, ''),
            (is_pass, task_id, rollout_index), 2
        ) as citations
    from main.associations
    inner join staging.signs using (run_id, sign)
    inner join staging.rollouts using (run_id, task_id, rollout_index)
    -- Cut-offs and what was never graded have a place of their own.
    anti join labelled
        on labelled.run_id = associations.run_id and labelled.mode = sign and labelled.topic is not null
    -- Of a hundred runs in which no sign means anything not one should say so.
    where ci_low > 0 and q_value < 0.001
    group by all
),
never as (
    select
        run_id,
        'never-pass' as topic,
        mode as subject,
        count(*) as n_rollouts,
        count(distinct task_id) as n_tasks,
        min_by(citation, (task_id, rollout_index), 2) filter (where citation is not null) as citations
    from failing
    inner join (
        select run_id, task_id, mode
        from main.never_dives
        where 2 * n_with_mode > n_scored
    ) using (run_id, task_id, mode)
    where mode <> 'UNEXPLAINED'
    group by all
    having n_tasks > 1
),
found as (
    select * exclude (limit_mode), if(topic = 'ungraded', 1, 2) as kind from recorded
    union all by name
    select *, 1 as kind from suspected
    union all by name
    select *, 3 as kind from associated
    union all by name
    select *, 4 as kind
    from never
    anti join (select run_id, mode as subject from labelled where topic is not null) using (run_id, subject)
)
select
    run_id,
    row_number() over (
        partition by run_id
        order by kind, coalesce(points, 0) desc, n_rollouts desc, topic, subject
    ) as rank,
    kind, topic, subject,
    coalesce(found.note, rules.title) as note,
    n_rollouts,
    coalesce(n_total, n_failures) as n_total,
    n_tasks,
    coalesce(share, n_rollouts / nullif(n_failures, 0)) as share,
    risk_difference, risk_low, risk_high, points,
    coalesce(citations, []) as citations
from found
inner join totals using (run_id)
left join raw.failure_rules as rules on rules.mode = found.subject
