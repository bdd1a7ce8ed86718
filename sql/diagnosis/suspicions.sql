-- Signs that not the model but the task, its verifier, the data or the infrastructure is at fault.
-- grain: run_id, task_id, rule
-- kind: table
select
    signals.run_id,
    signals.task_id,
    signals.rule,
    signals.cause,
    case
        when signals.level = 3 or signals.is_proven then 'strong'
        when signals.level = 2 then 'moderate'
        else 'weak'
    end as confidence,
    signals.note,
    signals.intervention,
    coalesce(cited.evidence, []) as evidence,
    signals.n_with,
    signals.n_failing
from staging.cause_signals as signals
left join staging.cause_citations as cited using (run_id, task_id, rule)
where
    signals.cause in ('TI', 'IR', 'DA')
    and signals.rule <> 'dominant_mode'
    -- What is wrong with a task is wrong where it passes, too.
    and (
        signals.is_commoner
        or signals.is_proven
        or signals.rule in ('missing_metadata', 'empty_output_passed')
    )
