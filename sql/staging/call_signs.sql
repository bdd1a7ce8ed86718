-- What a rollout's calls show: repeats, calls that nobody answered, and how it ended.
-- grain: record_id
-- kind: table
with

-- Arguments may be long: their keys are enough to tell calls apart.
calls as (

    select
        record_id,
        seq,
        tool,
        text_key(arguments) as arguments_key,
        is_malformed,
        result_seq,
        is_error,
        is_consequential

    from staging.keyed_calls

),

-- An error before the last call that counted was got over: it is not to blame for the end.
last_counted as (

    select * from staging.last_counted_calls

),

last_calls as (

    select
        record_id,
        seq,
        tool,
        arguments_key,
        is_error,
        is_error or result_seq is null as is_no_success,
        row_number() over (partition by record_id order by seq desc) as rank

    from calls

),

marked as (

    select
        calls.*,
        calls.is_error and calls.seq > coalesce(last_counted.seq, 0) as is_final_error,
        last_calls.is_error as ends_in_error,
        last_calls.seq as last_call_seq,
        last_calls.is_no_success
            and calls.tool = last_calls.tool
            and calls.arguments_key = last_calls.arguments_key as is_same_as_end,
        row_number() over (
            partition by calls.record_id, calls.tool, calls.arguments_key order by calls.seq
        ) as occurrence,
        -- Failing calls in a row have one and the same difference of these two.
        row_number() over (partition by calls.record_id order by calls.seq)
            - row_number() over (partition by calls.record_id, calls.is_error order by calls.seq)
            as streak

    from calls

    left join last_counted using (record_id)

    inner join last_calls
        on last_calls.record_id = calls.record_id
        and last_calls.rank = 1

),

-- The same failing call at the end: whether once or again.
numbered as (

    select
        *,
        is_final_error and is_same_as_end as is_same_final_error,
        row_number() over (
            partition by record_id, is_final_error, is_same_as_end order by seq
        ) as nth_alike

    from marked

),

streaks as (

    select
        record_id,
        max(n_calls) as longest

    from (

        select
            record_id,
            streak,
            count(*) as n_calls

        from marked

        where is_error

        group by all

    ) as counted

    group by all

),

final as (

    select
        numbered.record_id,
        count(distinct numbered.tool) as n_tools,
        count(*) filter (where numbered.occurrence > 1) as n_repeated_calls,
        count(*) filter (where numbered.result_seq is null) as n_unanswered_calls,
        count(*) filter (where numbered.is_malformed) as n_malformed_calls,
        count(*) filter (where numbered.is_consequential and not numbered.is_error and numbered.result_seq is not null)
            as n_counted_calls,
        coalesce(max(streaks.longest), 0) as longest_error_streak,
        count(*) filter (where numbered.is_final_error) as n_final_errors,
        count(*) filter (where numbered.is_same_final_error) as n_same_final_errors,
        max(numbered.last_call_seq) as last_call_seq,
        coalesce(bool_or(numbered.ends_in_error), false) as ends_in_error,
        min(numbered.seq) filter (where numbered.is_same_final_error and numbered.nth_alike = 2)
            as repeated_error_seq,
        max(numbered.result_seq) filter (where numbered.is_final_error) as final_error_seq,
        min(numbered.seq) filter (
            where
                numbered.is_malformed
                and (numbered.is_final_error or (numbered.result_seq is null and numbered.seq = numbered.last_call_seq))
        ) as malformed_seq,
        max(numbered.result_seq) as last_result_seq

    from numbered

    left join streaks using (record_id)

    group by numbered.record_id

)

select * from final
