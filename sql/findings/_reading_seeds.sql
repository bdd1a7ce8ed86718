-- The seed of each benchmark's reading plan: the one that most labels of rollouts name, else 0.
-- grain: benchmark
-- looks at: run
select
    runs.benchmark,
    coalesce(arg_max(seeds.seed, (seeds.n_labels, -seeds.seed)), 0) as seed
from main.runs
left join (
    select
        runs.benchmark,
        coalesce(labels.seed, 0) as seed,
        count(*) as n_labels
    from main.rollout_labels as labels
    inner join main.runs using (run_id)
    group by all
) as seeds using (benchmark)
group by runs.benchmark
