-- Each failing answer of a tool: its message, the message's signature, and how late it came.
-- grain: record_id, seq
-- kind: table
with failing as (
    select * from staging.keyed_calls where is_error
),
read as (
    select
        failing.run_id,
        failing.task_id,
        failing.rollout_index,
        failing.record_id,
        failing.seq,
        failing.result_seq,
        failing.tool,
        error_message(events.text) as message
    from failing
    inner join raw.events
        on events.record_id = failing.record_id
        and events.seq = failing.result_seq
)
select
    read.run_id,
    read.task_id,
    read.rollout_index,
    read.record_id,
    read.seq,
    read.result_seq,
    read.tool,
    left(read.message, 300) as message,
    error_signature(read.message) as signature,
    is_unknown_tool(read.message, read.tool) as is_unknown_tool
from read
