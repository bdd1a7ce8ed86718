-- The root cause a curator gave a task of a run in a labels.jsonl, with the evidence cited.
-- grain: run_id, task_id
-- kind: table
with ranks as (
    select * from staging.label_ranks where rank = 1
)
select
    ranks.run_id,
    ranks.task_id,
    labels.cause,
    labels.intervention,
    labels.note,
    labels.evidence,
    labels.said_by,
    ranks.source_file,
    ranks.source_line
from ranks
inner join raw.labels using (record_id)
