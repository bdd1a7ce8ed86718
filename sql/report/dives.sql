-- Tasks of each run that never pass, those that others pass or that came nearest first.
-- With what the record says of the attempt that came nearest, and a pass of another run where it did
-- what the failure did not.
-- grain: run_id, task_id
-- looks at: run
-- kind: table
-- needs: main.task_outcomes where bucket = 'never'
with outcomes as (from main.task_outcomes where bucket = 'never'),
-- The mode that is primary most often, and all attempts that have it.
modes as (
    select
        run_id,
        task_id,
        mode,
        count(*) as n_with_mode
    from main.rollout_modes
    semi join outcomes using (run_id, task_id)
    semi join (from staging.rollouts where is_scored) using (run_id, task_id, rollout_index)
    group by run_id, task_id, mode
    having bool_or(is_primary)
    qualify row_number() over (
        partition by run_id, task_id
        order by mode = 'no shared sign', count(*) filter (where is_primary) desc, mode
    ) = 1
),
checks as (
    select
        run_id,
        task_id,
        rollout_index,
        count(*) filter (where is_passed) as n_met
    from main.checks
    semi join outcomes using (run_id, task_id)
    where is_passed is not null
    group by all
),
-- By reward, then by the verifier's own checks.
nearest as (
    select
        run_id,
        task_id,
        rollout_index,
        rollouts.reward,
        rollouts.prompt_sha,
        rollouts.record_id,
        coalesce(checks.n_met, rollouts.n_checks_met) as n_met,
        bool_and(coalesce(not ungraded.is_begun, false)) over (partition by run_id, task_id) as is_not_run
    from outcomes
    inner join staging.rollouts using (run_id, task_id)
    left join staging.ungraded using (record_id)
    left join checks using (run_id, task_id, rollout_index)
    qualify row_number() over (
        partition by run_id, task_id
        order by reward desc nulls last, n_met desc nulls last, rollout_index
    ) = 1
),
-- Texts come last: a window over them would hold all of them.
chosen as materialized (
    select
        nearest.* exclude (is_not_run),
        outcomes.benchmark,
        outcomes.n_scored,
        modes.mode,
        modes.n_with_mode,
        coalesce(passes.n_passing_runs, 0) as n_passing_runs,
        count(*) over own as n_never_tasks,
        count(if(passes.n_passing_runs > 0, 1, null)) over own as n_passed_elsewhere,
        count(if(is_not_run, 1, null)) over own as n_not_run,
        row_number() over (
            partition by run_id
            order by
                passes.n_passing_runs desc,
                nearest.reward desc,
                coalesce(n_met, 0) desc,
                try_cast(task_id as bigint),
                task_id
        ) as rank
    from outcomes
    inner join nearest using (run_id, task_id)
    inner join modes using (run_id, task_id)
    left join staging.run_tasks as passes using (run_id, task_id)
    window own as (partition by run_id)
    qualify rank <= 8
),
-- Of the other runs that pass, those with other instructions or with a longer or shorter prompt: names of hosts
-- and times differ in any two prompts.
instructed as (
    select
        prompts.benchmark,
        run_id,
        task_id,
        prompts.question,
        min(md5(coalesce(instructing.system_prompt, ''))) as instructions,
        max(length(texts.prompt)) as n_characters
    from staging.task_prompts as prompts
    semi join chosen using (benchmark, task_id)
    inner join raw.texts on texts.record_id = prompts.prompt_record
    inner join raw.texts as instructing on instructing.record_id = prompts.system_prompt_record
    where texts.prompt <> ''
    group by all
),
unlike as (
    select
        chosen.run_id,
        chosen.task_id,
        count(distinct others.run_id) as n_unlike_runs
    from chosen
    inner join instructed using (benchmark, run_id, task_id)
    inner join instructed as others using (benchmark, task_id, question)
    inner join main.task_outcomes as outcomes on outcomes.run_id = others.run_id and outcomes.task_id = others.task_id
    where
        outcomes.n_passed > 0
        and (
            others.instructions <> instructed.instructions
            or abs(others.n_characters - instructed.n_characters) > 0.02 * instructed.n_characters
        )
    group by all
),
prompts as (
    select
        chosen.run_id,
        chosen.task_id,
        prompts.question,
        own_question(texts.prompt, chosen.task_id, tasks) as prompt
    from chosen
    inner join staging.task_prompts as prompts using (run_id, task_id, prompt_sha)
    inner join raw.texts on texts.record_id = prompts.prompt_record
    inner join staging.tasks on tasks.benchmark = prompts.benchmark and tasks.task_id = prompts.task_id
),
-- Expected calls that the failure does not make, and who makes them.
made as (
    select
        chosen.run_id,
        chosen.task_id,
        others.run_id as passing_run_id,
        others.rollout_index as passing_index,
        count(*) as n_made,
        arg_min(others.seq, (not coalesce(others.is_write, true), others.expected_no)) as seq
    from chosen
    inner join main.expected_calls as calls using (run_id, task_id, rollout_index)
    inner join main.expected_calls as others
        on others.task_id = calls.task_id
        and others.tool = calls.tool
        and others.expected_no = calls.expected_no
    where calls.status <> 'made' and others.status = 'made' and others.seq is not null
    group by all
),
-- A pass of another run that was asked the same.
passing as materialized (
    select
        chosen.run_id,
        chosen.task_id,
        rollouts.run_id as passing_run_id,
        rollouts.rollout_index as passing_index,
        rollouts.run_id || '/' || rollouts.rollout_id as citation,
        rollouts.record_id,
        made.seq,
        bearing.mode is not null as is_mode_shared
    from chosen
    inner join prompts using (run_id, task_id)
    inner join staging.task_prompts as asked
        on asked.benchmark = chosen.benchmark
        and asked.task_id = chosen.task_id
        and asked.question = prompts.question
    inner join staging.rollouts
        on rollouts.run_id = asked.run_id
        and rollouts.task_id = asked.task_id
        and rollouts.prompt_sha = asked.prompt_sha
    left join made
        on made.run_id = chosen.run_id
        and made.task_id = chosen.task_id
        and made.passing_run_id = rollouts.run_id
        and made.passing_index = rollouts.rollout_index
    left join staging.attempt_modes as bearing
        on bearing.run_id = rollouts.run_id
        and bearing.task_id = rollouts.task_id
        and bearing.rollout_index = rollouts.rollout_index
        and bearing.mode = chosen.mode
    where rollouts.is_pass and rollouts.run_id <> chosen.run_id
    qualify row_number() over (
        partition by chosen.run_id, chosen.task_id
        order by coalesce(made.n_made, 0) desc, rollouts.run_id, rollouts.rollout_index
    ) = 1
),
-- Checks that the pass meets and the failure does not.
met as (
    select
        chosen.run_id,
        chosen.task_id,
        arg_min(
            'meets ' || left(checks.check_name, 80) || coalesce(': ' || nullif(others.message, ''), ''),
            (coalesce(others.message, '') = '', checks.source, checks.check_name)
        ) as met_check
    from chosen
    inner join passing using (run_id, task_id)
    inner join main.checks using (run_id, task_id, rollout_index)
    inner join main.checks as others
        on others.run_id = passing.passing_run_id
        and others.task_id = passing.task_id
        and others.rollout_index = passing.passing_index
        and others.source = checks.source
        and others.check_name = checks.check_name
    anti join staging.score_checks as scores
        on scores.benchmark = chosen.benchmark
        and scores.name = check_sign(checks.source, checks.check_name)
    where not checks.is_passed and others.is_passed
    group by all
),
-- How attempts end that nobody answers; the last words of a conversation are often a farewell.
last_words as (
    -- A long text says at its end what it comes to.
    select
        record_id,
        if(length(final_text) > 200, '…' || right(final_text, 200), final_text) as final_text
    from staging.final_texts
    semi join (
        select record_id from chosen
        union all
        select record_id from passing
    ) using (record_id)
    anti join (from raw.events where role = 'user') as answered using (record_id)
    union all
    -- Or the call that nothing follows: it is the answer.
    select
        record_id,
        left(tool || ' ' || arguments, 210) as final_text
    from raw.events
    inner join staging.rollouts using (record_id)
    where
        events.kind = 'tool_call'
        and seq = n_events
        and record_id in (
            select record_id from chosen
            union all
            select record_id from passing
        )
        and record_id not in (select record_id from staging.final_texts)
),
notes as (
    select
        run_id,
        task_id,
        rollout_index,
        list(note order by note_no)[:4] as notes
    from main.failure_notes
    inner join chosen using (run_id, task_id, rollout_index)
    left join passing using (run_id, task_id)
    -- What the pass shows as well is no difference.
    anti join (from main.expected_calls where status not in ('made', 'none', 'unasked')) as shared
        on shared.run_id = passing.passing_run_id
        and shared.task_id = chosen.task_id
        and shared.rollout_index = passing.passing_index
        and failure_notes.kind = 'expected'
        and starts_with(failure_notes.note, shared.tool || ' ')
    anti join staging.signs
        on signs.run_id = passing.passing_run_id
        and signs.task_id = chosen.task_id
        and signs.rollout_index = passing.passing_index
        and signs.sign = failure_notes.note
    group by all
)
select
    chosen.* exclude (record_id, prompt_sha),
    chosen.run_id || '/' || chosen.task_id || ':' || chosen.rollout_index as failing,
    failing_words.final_text as failing_text,
    passing.citation || coalesce('#' || passing.seq, '') as passing,
    coalesce(passing.is_mode_shared, false) as is_mode_shared,
    coalesce(unlike.n_unlike_runs, 0) as n_unlike_runs,
    -- A call, a check or the last words: what the failure does not have.
    coalesce(
        calls.tool || ' ' || calls.arguments,
        met.met_check,
        nullif(passing_words.final_text, failing_words.final_text)
    ) as passing_text,
    prompts.prompt,
    coalesce(notes.notes, []) as notes,
    causes.cause,
    causes.source as cause_source,
    causes.note,
    coalesce(causes.evidence, []) as evidence
from chosen
left join prompts using (run_id, task_id)
left join unlike using (run_id, task_id)
left join passing using (run_id, task_id)
left join met using (run_id, task_id)
left join notes using (run_id, task_id, rollout_index)
left join main.root_causes as causes using (run_id, task_id)
left join raw.events as calls on calls.record_id = passing.record_id and calls.seq = passing.seq
left join last_words as failing_words on failing_words.record_id = chosen.record_id
left join last_words as passing_words on passing_words.record_id = passing.record_id
-- Where nothing is recorded of a failure and no run passes, there is nothing to show. The first row of a run
-- counts them all.
where
    rank = 1
    or chosen.mode <> 'no shared sign'
    or len(notes.notes) > 0
    or failing_words.final_text is not null
    or calls.tool is not null
    or met.met_check is not null
    or passing_words.final_text is not null
    or causes.cause is not null
order by run_id, rank
