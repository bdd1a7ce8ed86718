-- Tasks of each run that never pass, those that came nearest or that others pass first.
-- grain: run_id, task_id
with

joined as (

    select
        dives.*,
        tasks.prompt,
        causes.cause,
        causes.confidence,
        causes.is_suggested,
        causes.note,
        causes.intervention,
        causes.evidence,
        causes.n_failing as n_attempts

    from main.never_dives as dives

    inner join main.task_outcomes as outcomes using (run_id, task_id)

    inner join main.tasks as tasks using (benchmark, task_id)

    left join main.root_causes as causes
        on causes.run_id = dives.run_id
        and causes.task_id = dives.task_id

),

ranked as (

    select
        *,
        count(*) over (partition by run_id) as n_dives,
        row_number() over (
            partition by run_id
            order by
                n_passing_runs desc,
                best_reward desc,
                coalesce(n_checks_passed, n_matched_actions, 0) desc,
                try_cast(task_id as bigint),
                task_id
        ) as rank

    from joined

),

final as (

    select * from ranked where rank <= 8 order by run_id, rank

)

select * from final
