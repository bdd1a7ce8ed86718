-- Why a task fails, as far as the rules can tell; a curator's label goes before them.
-- grain: run_id, task_id
-- kind: table
with
-- What fits a cause, where the curator does not say; of a mixed one, its first.
fits (first_cause, fitting) as (
    values
    ('KG', 'training'),
    ('UK', 'training'),
    ('BI', 'harness'),
    ('TI', 'verifier repair'),
    ('IR', 'infrastructure'),
    ('DA', 'data')
),
-- A signal of most failing attempts goes before one of half of them, and what was scored before what
-- was not; then the first rule.
signals as (
    select *
    from staging.cause_signals
    where is_commoner and n_with * 2 >= n_failing
    qualify row_number() over (
        partition by run_id, task_id
        order by is_most desc, (is_most or n_scored_with > 0) desc, rule_no
    ) = 1
)
select
    run_id, task_id,
    outcomes.bucket,
    coalesce(labels.cause, signals.cause, 'UNEXPLAINED') as cause,
    labels.cause is null as is_suggested,
    case
        when not is_suggested then 'curated'
        when level = 3 then 'strong'
        when level = 2 then 'moderate'
        when level = 1 then 'weak'
    end as confidence,
    if(is_suggested, signals.rule, 'labels.jsonl') as rule,
    if(is_suggested, signals.note, labels.note) as note,
    if(is_suggested, signals.intervention, coalesce(labels.intervention, fitting)) as intervention,
    coalesce(if(is_suggested, signals.evidence, labels.evidence), []) as evidence,
    signals.n_with,
    context.n_attempts - context.n_passed as n_failing,
    coalesce(signals.cause, 'UNEXPLAINED') as suggested_cause,
    signals.rule as suggested_rule
from main.task_outcomes as outcomes
inner join staging.task_context as context using (run_id, task_id)
left join signals using (run_id, task_id)
left join main.labels using (run_id, task_id)
left join fits on first_cause = left(labels.cause, 2)
where outcomes.bucket in ('sometimes', 'never', 'missing')
