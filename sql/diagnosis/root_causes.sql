-- Why a task fails, as far as the rules can tell; a curator's label goes before them.
-- grain: run_id, task_id
-- kind: table
with
-- What fits a cause, where the curator does not say; of a mixed one, its first.
fits (cause, intervention) as (
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
ranked as (
    select
        *,
        row_number() over (
            partition by run_id, task_id
            order by is_most desc, (is_most or n_scored_with > 0) desc, rule_no
        ) as rank
    from staging.cause_signals
    where is_commoner and n_with * 2 >= n_failing
),
-- The root cause that the rules suggest for each task that does not always pass.
suggested_causes as (
    select
        outcomes.run_id,
        outcomes.task_id,
        outcomes.bucket,
        coalesce(ranked.cause, 'UNEXPLAINED') as cause,
        case ranked.level when 3 then 'strong' when 2 then 'moderate' when 1 then 'weak' end as confidence,
        ranked.rule,
        ranked.note,
        ranked.intervention,
        coalesce(cited.evidence, []) as evidence,
        ranked.n_with,
        context.n_attempts - context.n_passed as n_failing
    from main.task_outcomes as outcomes
    inner join staging.task_context as context using (run_id, task_id)
    left join ranked
        on ranked.run_id = outcomes.run_id
        and ranked.task_id = outcomes.task_id
        and ranked.rank = 1
    left join staging.cause_citations as cited
        on cited.run_id = ranked.run_id
        and cited.task_id = ranked.task_id
        and cited.rule = ranked.rule
    where outcomes.bucket in ('sometimes', 'never', 'missing')
)
select
    suggested.run_id,
    suggested.task_id,
    suggested.bucket,
    coalesce(labels.cause, suggested.cause) as cause,
    labels.cause is null as is_suggested,
    case when labels.cause is null then suggested.confidence else 'curated' end as confidence,
    case when labels.cause is null then suggested.rule else 'labels.jsonl' end as rule,
    case when labels.cause is null then suggested.note else labels.note end as note,
    case
        when labels.cause is null then suggested.intervention
        else coalesce(labels.intervention, fits.intervention)
    end as intervention,
    case when labels.cause is null then suggested.evidence else coalesce(labels.evidence, []) end
        as evidence,
    suggested.n_with,
    suggested.n_failing,
    suggested.cause as suggested_cause,
    suggested.rule as suggested_rule
from suggested_causes as suggested
left join main.labels using (run_id, task_id)
left join fits on fits.cause = left(labels.cause, 2)
