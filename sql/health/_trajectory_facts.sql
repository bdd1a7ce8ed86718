-- What of each trajectory can be judged: its turns, its calls, whose they are, and their sums.
-- grain: record_id
-- kind: table
with references_counted as (
    select
        record_id,
        count(*) as n_references,
        count(*) filter (where n_calls <> 1) as n_unresolved
    from staging.call_references
    group by all
),
calls as (
    select
        record_id,
        count(*) as n_owned,
        count(*) filter (where not is_failed and coalesce(status_code between 200 and 399, true))
            as n_successful,
        -- A sum is known when each of its parts is.
        case when count(prompt_tokens) = count(*) then sum(prompt_tokens) end as prompt_tokens,
        case when count(completion_tokens) = count(*) then sum(completion_tokens) end
            as completion_tokens,
        count(*) filter (where is_cut and has_words is null) as n_cut_unseen,
        count(*) filter (where n_failed between 1 and n_of_model - 1 and n_timed < n_of_model)
            as n_unordered
    from staging.owned_calls
    group by all
),
counts as (
    select
        records.record_id,
        coalesce(
            json_field_count(records.usage, 'input_tokens'),
            json_field_count(records.usage, 'prompt_tokens')
        ) as input_tokens,
        coalesce(
            json_field_count(records.usage, 'output_tokens'),
            json_field_count(records.usage, 'completion_tokens')
        ) as output_tokens
    from staging.records
    inner join staging.trajectories using (record_id)
),
usage as (
    select
        *,
        coalesce(input_tokens, 0) + coalesce(output_tokens, 0) as n_tokens
    from counts
)
select
    trajectories.record_id,
    trajectories.is_readable,
    trajectories.is_observed,
    trajectories.has_turns,
    trajectories.has_calls,
    trajectories.has_reference_gap,
    coalesce(references_counted.n_references, 0) as n_references,
    coalesce(references_counted.n_references > 0 and references_counted.n_unresolved = 0, false)
        as is_bound,
    coalesce(calls.n_owned, 0) as n_owned,
    coalesce(calls.n_successful, 0) as n_successful,
    cast(case when references_counted.n_unresolved = 0 then calls.prompt_tokens end as bigint)
        as prompt_tokens,
    cast(
        case when references_counted.n_unresolved = 0 then calls.completion_tokens end as bigint
    ) as completion_tokens,
    -- All zero means that nothing was counted.
    case when usage.n_tokens > 0 then usage.input_tokens end as usage_prompt_tokens,
    case when usage.n_tokens > 0 then usage.output_tokens end as usage_completion_tokens,
    coalesce(calls.n_cut_unseen, 0) as n_cut_unseen,
    coalesce(calls.n_unordered, 0) as n_unordered
from staging.trajectories
inner join usage using (record_id)
left join references_counted using (record_id)
left join calls using (record_id)
