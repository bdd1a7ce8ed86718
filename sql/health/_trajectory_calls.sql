-- Every model call that a trajectory holds, and how it ended.
-- grain: record_id, place
-- kind: table
with listed as (
    select
        record_id,
        unnest(calls) as call
    from staging.trajectories
    where has_calls
),
opened as (
    select
        record_id,
        call.place as place,
        call.model_call_id as model_call_id,
        call.model_ref as model_ref,
        call.response_id as response_id,
        call.started_at as started_at,
        call.status_code as status_code,
        call.response_status as response_status,
        nullif(call.error_category, '') as error_category,
        call.is_cut as is_cut,
        call.has_words as has_words,
        call.prompt_tokens as prompt_tokens,
        call.completion_tokens as completion_tokens
    from listed
)
select
    *,
    coalesce(status_code >= 400, false)
        or coalesce(lower(error_category) <> 'none', false)
        or coalesce(response_status in ('failed', 'error', 'cancelled'), false)
        as is_failed,
    -- By its id where that can be shown, else by its place in the list.
    coalesce(
        case when length(model_call_id) <= 100 then model_call_id end,
        'model_calls[' || (place - 1) || ']'
    ) as subject
from opened
