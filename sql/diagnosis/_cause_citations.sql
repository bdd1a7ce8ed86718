-- The recorded rollouts that show what a rule says of a task: at most three.
-- grain: run_id, task_id, rule
with rollouts as (
    select
        run_id,
        task_id,
        rollout_index,
        run_id || '/' || rollout_id as citation
    from main.rollouts
),
failing as (
    select
        attempts.run_id,
        attempts.task_id,
        attempts.rule,
        attempts.rollout_index as place,
        rollouts.citation || coalesce('#' || attempts.seq, '') as citation
    from staging.cause_attempts as attempts
    inner join staging.cause_counts as counts using (run_id, task_id, rule)
    inner join rollouts using (run_id, task_id, rollout_index)
    where counts.mode in ('', attempts.mode)
),
-- Of a task as a whole, what shows it best; else any rollout, where no failing one does.
whole as (
    select
        facts.run_id,
        facts.task_id,
        facts.rule,
        cast(-1 as bigint) as place,
        coalesce(facts.witness, case when count(failing.citation) = 0 then min(rollouts.citation) end)
            as citation
    from staging.cause_tasks as facts
    left join rollouts using (run_id, task_id)
    left join failing using (run_id, task_id, rule)
    group by facts.run_id, facts.task_id, facts.rule, facts.witness
),
every as (
    select * from failing
    union all
    select * from whole where citation is not null
),
ranked as (
    select
        run_id,
        task_id,
        rule,
        citation,
        row_number() over (partition by run_id, task_id, rule order by min(place), citation) as rank
    from every
    group by run_id, task_id, rule, citation
)
select
    run_id,
    task_id,
    rule,
    values_by(citation, rank) as evidence
from ranked
where rank <= 3
group by all
