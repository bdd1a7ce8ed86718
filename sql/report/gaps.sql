-- What is missing from the record of each run, what is not known without it, and what to collect.
-- grain: run_id, gap_no
-- looks at: run
-- kind: table
with texts (gap_no, gap, unit, missing, claims, collect) as (
    values
    (1, 'expected', 'rollout', 'what was expected', 'which attempts are missing',
        'a list of the tasks and repeats that were to run, or `[expected]` in blade.toml'),
    (2, 'failures', 'rollout', 'any trace of some expected attempts', 'why some attempts are missing',
        'the failures file of the run, or these attempts again'),
    (3, 'repeats', 'task', 'more than one scored attempt per task', 'how often a run passes a task again',
        'four or more attempts per task'),
    (4, 'model', 'rollout', 'the model', 'which model was run', 'rows whose response names the model'),
    (5, 'tokens', 'rollout', 'token counts', 'what an attempt costs', 'rows with the usage of their response'),
    (6, 'durations', 'rollout', 'durations', 'how long an attempt takes', 'rows with the time an attempt took'),
    (7, 'events', 'rollout', 'transcripts', 'where an attempt went wrong', 'rows whose response has its output items'),
    (8, 'endings', 'rollout', 'why the model stopped', 'whether answers were cut at a token limit',
        'rows with the status of their response, or its finish reason'),
    (9, 'trajectory', 'rollout', 'calls of the model that failed', 'whether model calls failed',
        'rows that record each call of the model, failed ones too'),
    (10, 'slices', 'task', 'a field that groups tasks', 'which kind of task is weak',
        'a field such as category in each row, or `slices` in blade.toml'),
    (11, 'verifier', 'rollout', 'fields of the verifier', 'why an attempt was graded as it was',
        'rows that keep what the verifier found'),
    (12, 'scores', 'rollout', 'a usable reward', 'whether unscored attempts passed', 'the verdict on these rows'),
    (13, 'settled', 'reward', 'a pass threshold', 'which attempts pass',
        '`pass_threshold` in blade.toml, or --pass-threshold'),
    (14, 'rewards', 'reward', 'rewards that differ', 'how single attempts did: all have one reward',
        'one reward per attempt'),
    (15, 'labels', 'task', 'causes given by a person', 'why tasks fail: no person has labelled them',
        '`labels.jsonl` beside the results'),
    (16, 'redacted', 'rollout', 'text before redaction', 'what the text was', 'the results before redaction'),
    (17, 'rejects', 'line', 'lines that can be read', 'what the rejected lines held', 'these lines again')
),
recorded as (
    select
        run_id,
        -- The settings of a run may name its model.
        count(*) filter (where rollouts.model is null and runs.model is null) as n_model,
        count(*) filter (where input_tokens is null and output_tokens is null) as n_tokens,
        count(*) filter (where coalesce(duration_s, constant_duration_s) is null) as n_durations,
        count(*) filter (where coalesce(n_events, 0) = 0) as n_events,
        count(*) filter (where coalesce(status, finish_reason) is null) as n_endings,
        count(*) filter (where coalesce(verifier, '{}') = '{}') as n_verifier,
        count(*) filter (where is_redacted(final_text) or is_redacted(verifier)) as n_redacted
    from staging.rollouts
    inner join main.runs using (run_id)
    inner join raw.texts using (record_id)
    left join staging.final_texts using (record_id)
    group by all
),
unobserved as (
    select
        run_id,
        count(*) as n_rollouts
    from main.rollout_health
    where
        list_contains(unobserved_checks, 'model_call_failed')
        -- Logs of Inspect have an event for each call, failed ones too.
        and run_id not in (
            select unnest(run_ids)
            from main.artifacts
            inner join raw.files using (path)
            where files.format = 'inspect_ai'
        )
    group by all
),
-- Attempts that were not made because the run ended with an error that is recorded.
ended as (
    select
        run_id,
        count(*) as n_never_run
    from staging.attempts
    semi join (from staging.run_settings where name = 'log_error') as errors using (run_id)
    where is_never_run
    group by all
),
causes as (
    select
        run_id,
        count(*) as n_tasks,
        count(*) filter (where labels.task_id is not null) as n_curated
    from main.task_outcomes
    left join main.labels using (run_id, task_id)
    where bucket in ('sometimes', 'never', 'missing')
    group by all
),
-- Of files that are read row by row, and of any other that could not be read.
lines as (
    select
        run_id,
        cast(sum(n_rejects) as bigint) as n_rejects,
        cast(sum(n_lines) as bigint) as n_lines
    from (
        select
            run_id,
            kind,
            sum(n_rejects) as n_rejects,
            sum(n_lines) as n_lines
        from (select unnest(run_ids) as run_id, kind, n_rejects, n_lines from main.artifacts)
        group by all
    )
    where kind in ('rollouts', 'inputs', 'failures') or n_rejects > 0
    group by all
),
-- How much of each run lacks each thing that a report would read.
lacking as (
    select
        heads.run_id,
        unnest([
            lack_of('expected', case when heads.is_expected_unknown then heads.n_rollouts end, heads.n_rollouts),
            lack_of('failures', heads.n_missing - coalesce(ended.n_never_run, 0), heads.n_expected),
            lack_of('repeats', case when heads.is_single_repeat then heads.n_scored_tasks end, heads.n_scored_tasks),
            lack_of('model', recorded.n_model, heads.n_rollouts),
            lack_of('tokens', recorded.n_tokens, heads.n_rollouts),
            lack_of('durations', recorded.n_durations, heads.n_rollouts),
            lack_of('events', recorded.n_events, heads.n_rollouts),
            lack_of('endings', recorded.n_endings, heads.n_rollouts),
            lack_of('trajectory', unobserved.n_rollouts, heads.n_rollouts),
            lack_of('slices', case when slices.run_id is null then heads.n_tasks end, heads.n_tasks),
            lack_of('verifier', recorded.n_verifier, heads.n_rollouts),
            lack_of('scores', heads.n_unscored, heads.n_rollouts),
            lack_of('settled', case when heads.is_unsettled then heads.n_scored end, heads.n_scored),
            lack_of('rewards', case when heads.has_constant_reward then heads.n_scored end, heads.n_scored),
            lack_of('labels', causes.n_tasks - causes.n_curated, causes.n_tasks),
            lack_of('redacted', recorded.n_redacted, heads.n_rollouts),
            lack_of('rejects', lines.n_rejects, lines.n_lines)
        ], recursive := true)
    from report.headlines as heads
    left join recorded using (run_id)
    left join unobserved using (run_id)
    left join ended using (run_id)
    left join causes using (run_id)
    left join (
        select distinct run_id
        from main.task_outcomes
        semi join staging.task_slices using (benchmark, task_id)
    ) as slices using (run_id)
    left join lines using (run_id)
)
select
    lacking.run_id,
    texts.gap_no,
    texts.gap,
    texts.missing,
    texts.claims,
    texts.collect,
    texts.unit,
    lacking.n_rows,
    lacking.n_of
from lacking
inner join texts using (gap)
where lacking.n_rows > 0
order by lacking.run_id, texts.gap_no
