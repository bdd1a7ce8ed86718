-- Sometimes-pass tasks whose transcripts, if any, show no difference: a failure and a pass by their checks.
-- Where nothing else is recorded of a failure, there is nothing to show.
-- grain: run_id, task_id
-- looks at: run
-- kind: table
-- needs: main.task_outcomes where bucket = 'sometimes'
with outcomes as (
    select
        run_id,
        task_id,
        benchmark,
        n_passed,
        n_scored
    from main.task_outcomes
    anti join report.contrasts using (run_id, task_id)
    anti join (
        from main.contrasts
        where is_closest and difference not in ('answer', 'nothing') and not is_other_way(contrasts)
    ) as steps
        using (run_id, task_id)
    where bucket = 'sometimes'
),
attempts as (
    select
        run_id,
        task_id,
        rollout_index,
        is_pass,
        reward,
        n_events > 0 as has_transcript
    from staging.rollouts
    semi join outcomes using (run_id, task_id)
    where is_scored
),
-- What only says the score again says nothing of it.
checks as materialized (
    select
        run_id,
        task_id,
        rollout_index,
        source,
        check_name,
        checks.is_passed
    from main.checks
    inner join outcomes using (run_id, task_id)
    anti join staging.score_checks as scores
        on scores.benchmark = outcomes.benchmark
        and scores.name = check_sign(checks.source, checks.check_name)
    where checks.is_passed is not null
),
-- The failure that comes nearest: by reward, then by its checks.
failing as (
    select
        run_id,
        task_id,
        rollout_index,
        has_transcript
    from attempts
    left join (
        select
            run_id,
            task_id,
            rollout_index,
            count(*) filter (where is_passed) as n_met
        from checks
        group by all
    ) using (run_id, task_id, rollout_index)
    where not is_pass
    qualify row_number() over (
        partition by run_id, task_id
        order by reward desc, n_met desc nulls last, rollout_index
    ) = 1
),
-- A few passes are enough to find one that is close.
passing as (
    select
        run_id,
        task_id,
        rollout_index as passing_index
    from attempts
    where is_pass
    qualify row_number() over (partition by run_id, task_id order by rollout_index) <= 8
),
compared as (
    select
        run_id,
        task_id,
        failing.rollout_index,
        passing_index,
        count(*) as n_compared,
        list(check_name order by source, check_name) filter (
            where one.is_passed is false and other.is_passed
        ) as met_by_pass,
        list(check_name order by source, check_name) filter (
            where one.is_passed and other.is_passed is false
        ) as met_by_failure
    from failing
    inner join passing using (run_id, task_id)
    inner join checks as one using (run_id, task_id, rollout_index)
    inner join checks as other using (run_id, task_id, source, check_name)
    where other.rollout_index = passing_index
    group by run_id, task_id, failing.rollout_index, passing_index
),
chosen as (
    select
        outcomes.*,
        failing.rollout_index,
        failing.has_transcript,
        coalesce(compared.passing_index, passing.passing_index) as passing_index,
        compared.n_compared,
        coalesce(compared.met_by_pass, []) as met_by_pass,
        coalesce(compared.met_by_failure, []) as met_by_failure
    from outcomes
    inner join failing using (run_id, task_id)
    inner join passing using (run_id, task_id)
    left join compared
        on compared.run_id = outcomes.run_id
        and compared.task_id = outcomes.task_id
        and compared.passing_index = passing.passing_index
    qualify row_number() over (
        partition by run_id, task_id
        order by
            length(met_by_pass) + length(met_by_failure) = 0,
            length(met_by_pass) + length(met_by_failure),
            passing.passing_index
    ) = 1
),
notes as (
    select
        run_id,
        task_id,
        rollout_index,
        list(note order by note_no)[:3] as notes
    from main.failure_notes
    semi join chosen using (run_id, task_id, rollout_index)
    group by all
)
select
    chosen.*,
    length(met_by_pass) as n_met_by_pass,
    length(met_by_failure) as n_met_by_failure,
    run_id || '/' || task_id || ':' || rollout_index as failing,
    run_id || '/' || task_id || ':' || passing_index as passing,
    own_question(texts.prompt, chosen.task_id, tasks) as prompt,
    -- What the pass beside it has as well is no difference.
    if(coalesce(is_of_pass, false), null, modes.mode) as mode,
    (run_id, task_id) in (
        select (run_id, task_id) from main.contrasts where is_closest and is_other_way(contrasts)
    ) as is_other_way,
    coalesce(notes.notes, []) as notes,
    causes.cause,
    causes.source as cause_source,
    causes.note,
    coalesce(causes.evidence, []) as evidence,
    row_number() over (
        partition by run_id
        order by
            n_met_by_pass + n_met_by_failure = 0,
            length(coalesce(notes.notes, [])) = 0,
            abs(2 * n_passed - n_scored),
            try_cast(task_id as bigint),
            task_id
    ) as rank
from chosen
left join notes using (run_id, task_id, rollout_index)
left join main.root_causes as causes using (run_id, task_id)
left join (from main.rollout_modes where is_primary) as modes using (run_id, task_id, rollout_index)
left join (
    select
        run_id,
        task_id,
        rollout_index as passing_index,
        mode,
        true as is_of_pass
    from staging.attempt_modes
) as of_pass using (run_id, task_id, passing_index, mode)
left join staging.run_tasks using (run_id, task_id)
left join staging.task_prompts as prompts using (run_id, task_id, prompt_sha)
left join raw.texts on texts.record_id = prompts.prompt_record
left join staging.tasks on tasks.benchmark = chosen.benchmark and tasks.task_id = chosen.task_id
where n_met_by_pass + n_met_by_failure > 0 or length(notes.notes) > 0
qualify rank <= 6
order by run_id, rank
