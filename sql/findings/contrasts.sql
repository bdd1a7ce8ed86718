-- Each failing rollout of a sometimes-pass task beside the closest passing one, and where they diverge.
-- grain: run_id, task_id, rollout_index
-- looks at: task
-- needs: staging.contrast_pairs
select
    run_id,
    task_id,
    rollout_index,
    passing_index,
    is_closest,
    n_calls,
    n_passing_calls,
    n_common,
    n_common_first,
    difference,
    seq,
    passing_seq,
    failing_event,
    passing_event,
    failing_chars,
    passing_chars,
    arguments,
    skipped_seq,
    other_seq,
    tools_only_failing,
    tools_only_passing,
    differences
from staging.contrast_pairs
where flip_no is null
order by run_id, task_id, rollout_index
