-- Why a task fails, where a person, a profile or the record itself says so; nothing is guessed.
-- grain: run_id, task_id
-- looks at: task
-- kind: table
-- needs: raw.labels | staging.rule_matches | staging.ungraded | staging.attempts where not is_recorded and is_infrastructure
with
-- What the harness itself raised.
raised as (
    select
        run_id,
        task_id,
        rollout_index,
        arg_max(value, (length(value), value)) as error
    from staging.signs
    where
        kind = 'error'
        and name = 'error_message'
        and value <> 'recorded'
    group by all
),
tasks as (
    select
        run_id,
        task_id,
        bucket
    from main.task_outcomes
    where bucket in ('sometimes', 'never', 'missing')
),
attempts as (
    select
        run_id,
        task_id,
        rollout_index,
        is_recorded,
        is_infrastructure,
        failure_class,
        ungraded.reason,
        raised.error,
        exists (
            from staging.signs
            where
                signs.kind = 'limit'
                and signs.run_id = attempts.run_id
                and signs.task_id = attempts.task_id
                and signs.rollout_index = attempts.rollout_index
        ) as is_cut_off,
        rules.cause,
        rules.mode,
        rules.severity
    from staging.attempts
    left join staging.ungraded using (record_id)
    left join raised using (run_id, task_id, rollout_index)
    left join staging.rule_matches as matches using (run_id, task_id, rollout_index)
    left join raw.failure_rules as rules on rules.rule_no = matches.rule_no and rules.cause <> 'UNEXPLAINED'
    where coalesce(not is_pass, not is_scored)
),
failing as (
    select
        run_id,
        task_id,
        count(distinct rollout_index) as n_failing
    from attempts
    group by all
),
stated as (
    select
        run_id,
        task_id,
        unnest([
            {cause: cause, source: 'profile', note: mode, place: 100 - coalesce(severity, 0)},
            -- An attempt that ran into a limit may have left nothing to grade.
            {
                cause: case
                    when is_recorded and reason is not null and not is_cut_off
                        then if(error is null, 'TI', 'IR')
                end,
                source: 'record',
                note: coalesce(error, reason),
                place: 200
            },
            {
                cause: if(not is_recorded and is_infrastructure, 'IR', null),
                source: 'record',
                note: coalesce('attempt failed: ' || failure_class, 'no row recorded'),
                place: 201
            }
        ], recursive := true),
        rollout_index,
        is_recorded
    from attempts
),
-- What at least half of the failing attempts bear.
chosen as (
    select
        run_id,
        task_id,
        cause,
        source,
        note,
        place,
        n_failing,
        count(distinct rollout_index) as n_with,
        min_by(run_id || '/' || task_id || ':' || rollout_index, rollout_index, 3) filter (where is_recorded)
            as evidence
    from stated
    inner join failing using (run_id, task_id)
    where cause is not null
    group by run_id, task_id, cause, source, note, place, n_failing
    having 2 * count(distinct rollout_index) >= n_failing
    qualify row_number() over (partition by run_id, task_id order by place, n_with desc, note) = 1
)
select
    run_id,
    task_id,
    tasks.bucket,
    coalesce(labels.cause, chosen.cause) as cause,
    if(labels.cause is not null, 'label', chosen.source) as source,
    coalesce(if(labels.cause is not null, labels.evidence, chosen.evidence), []) as evidence,
    if(labels.cause is not null, labels.note, chosen.note) as note,
    labels.intervention,
    chosen.n_with,
    failing.n_failing
from tasks
inner join failing using (run_id, task_id)
left join main.labels using (run_id, task_id)
left join chosen using (run_id, task_id)
where coalesce(labels.cause, chosen.cause) is not null
