-- The reward from which a rollout of a benchmark passes; null where rewards leave 0..1 unsettled.
-- grain: benchmark
with

settings as (

    select * from raw.settings

),

rewards as (

    select
        run_benchmarks.benchmark,
        min(records.reward) as lowest,
        max(records.reward) as highest

    from staging.run_benchmarks as run_benchmarks

    left join staging.rollout_keys as rollout_keys using (run_id)

    left join staging.records as records using (record_id)

    group by all

),

final as (

    select
        rewards.benchmark,
        rewards.lowest,
        rewards.highest,
        case
            when settings.pass_threshold is not null then settings.pass_threshold
            when rewards.lowest < -1e-9 or rewards.highest > 1 + 1e-9 then null
            else 1.0
        end as pass_threshold

    from rewards

    cross join settings

)

select * from final
