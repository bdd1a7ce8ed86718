-- All that a rollout did and said, under one short name: equal behaviour has equal names.
-- grain: record_id
-- kind: table
with

called as (

    select
        record_id,
        string_agg(
            cast(text_key(concat_ws(' ', tool, arguments, cast(is_error as varchar))) as varchar),
            ' '
            order by seq
        ) as calls

    from staging.calls

    group by all

),

final as (

    select
        rollouts.record_id,
        md5(concat_ws(' | ', called.calls, coalesce(rollouts.answer, rollouts.final_text))) as behaviour

    from main.rollouts as rollouts

    left join called using (record_id)

    -- Without a call or last words there is nothing to compare.
    where
        rollouts.is_scored
        and (
            called.calls is not null
            or regexp_matches(coalesce(rollouts.answer, rollouts.final_text), '\S')
        )

)

select * from final
