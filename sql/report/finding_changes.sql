-- What changed in each run against its named base; where none is named, the largest settled change.
-- grain: run_id
with compared as (
    select
        *,
        count(*) filter (where not is_named) over () as n_pairs
    from main.comparisons
    where is_lead
),
comparisons as (
    select
        *,
        coalesce(verdict in ('improved', 'regressed'), true) as is_decided,
        row_number() over (
            partition by benchmark, case when is_named then candidate else '' end
            order by abs(delta) desc, pair_no
        ) as rank
    from compared
    -- Of twenty pairs that nobody asked about one looks changed by chance: all are tests of one.
    where
        delta is not null
        and (
            is_named
            or ((ci_new_tasks_low > 0 or ci_new_tasks_high < 0) and p_value * n_pairs <= 0.05)
        )
),
examples as (
    select base, candidate, metric, is_gain, candidate_example
    from report.changed_tasks
    where rank = 1
)
select
    comparisons.candidate as run_id,
    'change' as kind,
    comparisons.metric,
    comparisons.is_decided,
    -- Rewards without bounds do not go beyond the scale of all others.
    case
        when comparisons.is_decided then least(abs(comparisons.delta), 1)
        else 0
    end as stake,
    comparisons.base,
    comparisons.verdict,
    comparisons.delta as value,
    comparisons.ci_new_tasks_low as low,
    comparisons.ci_new_tasks_high as high,
    comparisons.n_common_tasks as n_total,
    case when not comparisons.is_named then comparisons.n_pairs end as n_pairs,
    examples.candidate_example as example
from comparisons
left join examples
    on examples.base = comparisons.base
    and examples.candidate = comparisons.candidate
    and examples.metric = comparisons.metric
    and examples.is_gain = (comparisons.delta > 0)
    and comparisons.delta <> 0
where comparisons.rank = 1
