-- Tasks of which no repeat can be trusted, or no repeat reached the model.
-- grain: run_id, task_id, check_id
with repeats as (
    select
        run_id,
        task_id,
        count(*) as n_repeats,
        count(*) filter (where health <> 'unobserved') as n_computable,
        count(*) filter (where health = 'unhealthy') as n_unhealthy
    from main.rollout_health
    group by all
),
-- Only where every repeat is fully bound can it be said that none succeeded.
bound as (
    select
        keys.run_id,
        keys.task_id,
        count(*) as n_bound,
        sum(facts.n_owned) as n_calls,
        sum(facts.n_successful) as n_successful
    from staging.trajectory_facts as facts
    inner join staging.rollout_keys as keys using (record_id)
    where facts.is_bound
    group by all
)
select
    run_id,
    task_id,
    'task_consistently_unhealthy' as check_id,
    'every repeat that can be judged is unhealthy' as message,
    'unhealthy: ' || n_unhealthy || ', repeats: ' || n_repeats as evidence
from repeats
where n_computable >= 2 and n_unhealthy = n_computable
union all
select
    repeats.run_id,
    repeats.task_id,
    'task_no_successful_model_calls' as check_id,
    'no call of the model succeeded in any repeat' as message,
    'calls: ' || bound.n_calls || ', repeats: ' || repeats.n_repeats as evidence
from repeats
inner join bound using (run_id, task_id)
where bound.n_bound = repeats.n_repeats and bound.n_successful = 0
