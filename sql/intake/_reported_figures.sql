-- What each reported figure claims: which statistic, of which field, over which part of the run.
-- grain: run_id, agent, task_id, metric, source_file
-- kind: table
with named as (
    select
        *,
        case
            when regexp_matches(metric, '^(mean|max|min|median|std)/.') then 'statistic'
            when regexp_matches(metric, '^pass@[0-9]+/[^/]+$') then 'pass'
            when regexp_matches(metric, '^pass@1\[avg-of-[0-9]+\]/[^/]+$') then 'average'
            when regexp_matches(metric, '^majority@[0-9]+/[^/]+$') then 'majority'
            when metric in (
                'num_rollouts',
                'expected_num_rollouts',
                'missing_num_rollouts',
                'reward_profile_completion_pct'
            ) then 'count'
            else 'other'
        end as kind,
        regexp_extract(metric, '^[^/]*/(.+)$', 1) as name
    from main.reported_metrics as metrics
)
select
    named.run_id,
    named.agent,
    named.task_id,
    named.metric,
    named.value as reported,
    named.source_file,
    files.seed,
    files.chunk,
    concat_ws('/', 'rs' || files.seed, 'chunk' || files.chunk) as shard,
    named.kind,
    case when named.kind = 'statistic' then regexp_extract(named.metric, '^([a-z]+)/', 1) end
        as statistic,
    -- A rollout is accurate as far as it is rewarded.
    case
        when named.kind = 'statistic' then named.name
        when named.kind in ('pass', 'average', 'majority')
            then case when named.name = 'accuracy' then 'reward' else named.name end
    end as field,
    case
        when named.kind in ('pass', 'average', 'majority')
            then try_cast(regexp_extract(named.metric, '([0-9]+)\]?/', 1) as int)
    end as k
from named
inner join raw.files
    on files.path = named.source_file
