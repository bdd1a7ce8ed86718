-- verdicts: the health of each rollout of a run ($1), by the checks of Gym ($2)
select
    task_id,
    rollout_index,
    rollout_id,
    input_tokens,
    output_tokens,
    list_filter(unobserved_checks, lambda each: list_contains($2, each)) as unobserved,
    coalesce(flagged.findings, []) as findings,
    case
        when flagged.findings is not null then 'unhealthy'
        when length(unobserved) > 0 then 'unobserved'
        else 'healthy'
    end as verdict
from rollout_health
inner join rollouts using (run_id, task_id, rollout_index)
left join (
    select
        run_id,
        task_id,
        rollout_index,
        list({'check': check_id, detail: {message: message}} order by check_id, subject)
            as findings
    from health_findings
    where scope = 'rollout' and list_contains($2, check_id)
    group by all
) as flagged using (run_id, task_id, rollout_index)
where run_id = $1
order by try_cast(task_id as bigint), task_id, rollout_index;

-- other_checks: the tasks of a run that checks of tasks and lines are about
select
    check_id,
    list(task_id) as tasks
from health_findings
where run_id = $1 and scope <> 'rollout'
group by all;

-- flips: the common tasks of two runs that have an index, which Gym joins them by; a score of one
-- half is on neither side, and a graded reward just changes
with rewards as (
    select
        run_id,
        task_id,
        list(reward order by rollout_index) as rewards
    from rollouts
    where is_scored
    group by all
),
scores as (
    select
        tasks.task_id::bigint as task_index,
        base_mean_reward as baseline_score,
        candidate_mean_reward as candidate_score,
        candidate_score - baseline_score as delta,
        bases.rewards as baseline_rewards,
        candidates.rewards as candidate_rewards,
        bool_and(list_has_all([0, 1], baseline_rewards || candidate_rewards)) over ()
            as is_binary
    from comparison_tasks as tasks
    inner join rewards as bases on bases.run_id = base and bases.task_id = tasks.task_id
    inner join rewards as candidates
        on candidates.run_id = candidate and candidates.task_id = tasks.task_id
    where base = $1 and candidate = $2 and is_common
        and try_cast(tasks.task_id as bigint)::varchar = tasks.task_id
)
select
    *,
    case
        when not is_binary then if(delta = 0, 'unchanged', 'changed')
        when 0.5 in (baseline_score, candidate_score) then 'tied'
        when (baseline_score > 0.5) = (candidate_score > 0.5) then 'unchanged'
        else if(delta < 0, 'pass_to_fail', 'fail_to_pass')
    end as direction
from scores
order by direction = 'fail_to_pass', abs(delta) desc, task_index;

-- common: how many tasks two runs share
select
    n_common_tasks as common_task_count,
    n_base_only as baseline_only_task_count,
    n_candidate_only as candidate_only_task_count
from comparisons
where base = $1 and candidate = $2 and is_lead;

-- side: one run of a comparison
select
    runs.run_id,
    runs.agent,
    n_tasks,
    n_repeats,
    list_distinct(list(rollouts.agent)) as agents,
    list_sum(list(reward order by reward)) / nullif(count(reward), 0) as "mean/reward",
    avg(input_tokens) as "mean/input_tokens",
    avg(output_tokens) as "mean/output_tokens",
    (
        select min(path)
        from artifacts
        where kind = 'rollouts' and list_contains(run_ids, runs.run_id)
    ) as rollouts_path,
    (
        select min(path)
        from artifacts
        where kind = 'aggregate_metrics' and list_contains(run_ids, runs.run_id)
    ) as metrics_path
from runs
left join rollouts using (run_id)
where run_id = $1
group by all;
