-- Signs that not the model but the task, its verifier, the data or the infrastructure is at fault.
-- grain: run_id, task_id, rule
select
    run_id, task_id,
    rule, cause,
    case
        when level = 3 or is_proven then 'strong'
        when level = 2 then 'moderate'
        else 'weak'
    end as confidence,
    note, intervention, evidence, n_with, n_failing
from staging.cause_signals
where
    cause in ('TI', 'IR', 'DA')
    and rule <> 'dominant_mode'
    and (is_commoner or is_proven)
order by run_id, task_id, rule
