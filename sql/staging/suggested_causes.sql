-- The root cause that the rules suggest for each task that does not always pass.
-- grain: run_id, task_id
-- kind: table
with

-- A signal of most failing attempts goes before one of half of them, and what was scored before what
-- was not; then the first rule.
ranked as (

    select
        *,
        row_number() over (
            partition by run_id, task_id
            order by is_most desc, (is_most or n_scored_with > 0) desc, rule_no
        ) as rank

    from staging.cause_signals

    where is_commoner and n_with * 2 >= n_failing

),

final as (

    select
        outcomes.run_id,
        outcomes.task_id,
        outcomes.bucket,
        coalesce(ranked.cause, 'UNEXPLAINED') as cause,
        case ranked.level when 3 then 'strong' when 2 then 'moderate' when 1 then 'weak' end as confidence,
        ranked.rule,
        ranked.note,
        ranked.intervention,
        coalesce(cited.evidence, []) as evidence,
        ranked.n_with,
        context.n_attempts - context.n_passed as n_failing

    from main.task_outcomes as outcomes

    inner join staging.task_context as context using (run_id, task_id)

    left join ranked
        on ranked.run_id = outcomes.run_id
        and ranked.task_id = outcomes.task_id
        and ranked.rank = 1

    left join staging.cause_citations as cited
        on cited.run_id = ranked.run_id
        and cited.task_id = ranked.task_id
        and cited.rule = ranked.rule

    where outcomes.bucket in ('sometimes', 'never', 'missing')

)

select * from final
