-- The reward from which a rollout of a benchmark passes; null where rewards leave 0..1 unsettled.
-- grain: benchmark
with rewards as (
    select
        run_benchmarks.benchmark,
        min(records.reward) as lowest,
        max(records.reward) as highest
    from staging.run_benchmarks
    left join staging.rollout_keys using (run_id)
    left join staging.records using (record_id)
    group by all
)
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
cross join raw.settings
