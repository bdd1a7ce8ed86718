-- Why a task fails, as far as the rules can tell; a curator's label goes before them.
-- grain: run_id, task_id
-- kind: table
with

suggested as (

    select * from staging.suggested_causes

),

labels as (

    select * from main.labels

),

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

final as (

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

    from suggested

    left join labels using (run_id, task_id)

    left join fits on fits.cause = left(labels.cause, 2)

)

select * from final
