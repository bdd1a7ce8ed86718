-- Events of rollouts as a page shows them: each cut to a few lines, with its whole length.
-- grain: run_id, task_id, rollout_index, seq
select
    run_id,
    task_id,
    rollout_index,
    seq,
    kind,
    role,
    tool,
    is_error,
    left(coalesce(text, arguments), 400) as words,
    length(coalesce(text, arguments)) as n_characters
from main.events
order by
    run_id,
    try_cast(task_id as bigint),
    task_id,
    rollout_index,
    seq
