-- The parts of runs that figures were reported of: a whole run, or one of its shards.
-- grain: run_id, shard
-- kind: table
with scopes as (
    select distinct run_id, shard, seed, chunk
    from staging.reported_figures
),
rollout_files as (
    select run_keys.run_id, files.path, files.seed, files.chunk
    from staging.run_keys
    inner join raw.files using (run_name)
    where files.kind = 'rollouts'
),
rejected as (
    select
        scopes.run_id,
        scopes.shard,
        count(*) as n_rejects
    from scopes
    inner join rollout_files
        on rollout_files.run_id = scopes.run_id
        and coalesce(scopes.seed, rollout_files.seed, -1) = coalesce(rollout_files.seed, -1)
        and coalesce(scopes.chunk, rollout_files.chunk, -1) = coalesce(rollout_files.chunk, -1)
    inner join main.rejects
        on rejects.source_file = rollout_files.path
    group by all
)
select
    scopes.run_id,
    scopes.shard,
    scopes.seed,
    scopes.chunk,
    thresholds.pass_threshold,
    coalesce(rejected.n_rejects, 0) as n_rejects
from scopes
inner join staging.run_benchmarks using (run_id)
inner join staging.thresholds using (benchmark)
left join rejected using (run_id, shard)
