-- What tables of a report read, in the order of their rows. A table without a query here is its relation by its key.

-- headlines: one row per run, by benchmark
from report.headlines
order by benchmark, place;

-- policies: how much an attempt that was not scored could change; `unscored` is where there are any
select
    *,
    policy = 'dropped' and n_left_out > 0 as unscored
from main.denominators
order by run_id, list_position(['dropped', 'counted_as_fail'], policy) nulls last, policy;

-- slices: parts of runs beside each other
from main.slice_metrics
order by slice_key, slice_value, run_id;

-- resources: tokens before turns, calls and seconds, and passes before failures
from main.resource_stats
order by
    run_id,
    list_position(['input_tokens', 'output_tokens', 'turns', 'tool_calls', 'duration_s'], measure),
    outcome <> 'passed';

-- published: main scores of a harness that the rows here do not give
select
    runs.run_id,
    runs.benchmark,
    runs.reported_metric,
    runs.reported_score,
    checks.reason
from main.runs
inner join main.reported_checks as checks
    on checks.run_id = runs.run_id
    and checks.metric = runs.reported_metric
where checks.status = 'not comparable'
order by runs.benchmark, runs.run_id;

-- funnels: stages in their order; `losses` are those at which attempts are lost
select
    *,
    n_lost > 0 as losses
from main.funnel
order by run_id, stage_no;

-- buckets: from always to missing
from main.bucket_counts
order by run_id, list_position(['always', 'sometimes', 'never', 'missing'], bucket);

-- modes: failure modes of single runs, without parts of others
from main.failure_modes
where run_id is not null and parent is null and n_failures > 0
order by benchmark, rank, run_id, mode;

-- observations: findings over all runs of a benchmark
from main.findings
order by benchmark, finding_no;

-- all_modes: failure modes over all runs of a benchmark
from main.failure_modes
where run_id is null and parent is null and is_told and n_failures > 0
order by benchmark, rank, mode;

-- mode_parts: the most frequent part of each mode first
from main.failure_modes
where run_id is null and parent is not null and n_failures > 0
order by benchmark, parent, n_failures desc, mode;

-- concentrations: modes whose failures are mostly in one slice of the tasks, the clearest of each mode
from main.mode_slices
where mode <> 'any failure' and share >= 0.6 and lift >= 2 and p_adjusted < 0.05 and n_failures >= 3
qualify row_number() over (
    partition by benchmark, mode order by p_adjusted, share desc, slice_key, slice_value
) = 1
order by benchmark, mode;

-- expected_tools: the tools whose calls fail most first
from main.expected_tools
order by benchmark, rank;

-- failure_lines: what records say of failures, in the order of runs
from report.failure_lines
order by benchmark, place;

-- labelled: causes that a person gave
from main.root_causes
where source = 'label'
order by run_id, try_cast(task_id as bigint), task_id;

-- all_read: modes, then causes, that persons read in the failures of all runs of a benchmark
from main.read_shares
where run_id is null
order by benchmark, kind desc, share desc nulls last, n_with desc, n_with_outside desc, value;

-- read: the same of each run
from main.read_shares
where run_id is not null
order by run_id, kind desc, share desc nulls last, n_with desc, n_with_outside desc, value;

-- all_signatures: the most frequent errors of each benchmark
from main.error_signatures
where run_id is null
qualify row_number() over (
    partition by benchmark order by n_failed desc, n_rollouts desc, source, signature
) <= 8
order by benchmark, n_failed desc, n_rollouts desc, source, signature;

-- signatures: the most frequent errors of each run
from main.error_signatures
where run_id is not null
qualify row_number() over (
    partition by run_id order by n_failed desc, n_rollouts desc, source, signature
) <= 8
order by n_failed desc, n_rollouts desc, run_id, source, signature;

-- label_counts: runs of which a person has labelled tasks
from report.headlines
where n_labelled > 0
order by run_id;

-- contrasts: a failure beside the closest pass
from report.contrasts
order by rank, run_id;

-- check_contrasts: checks that differ between passes and failures
from report.check_contrasts
order by rank, run_id;

-- dives: tasks without a pass; the first row of a run counts them all (`never_counts`)
select
    *,
    rank = 1 as never_counts
from report.dives
order by rank, run_id;

-- recommendations: what to look into first
from main.recommendations
order by benchmark, rank;

-- flip_signs: the most frequent signs of each side
from main.flip_signs
where rank <= 3
order by base, candidate, side desc, rank;

-- health: with the benchmark of each run
select
    run_health.*,
    benchmark
from main.run_health
inner join main.run_metrics using (run_id)
order by benchmark, run_id;

-- health_checks: what was found most often first
from report.health_checks
order by n_findings desc, run_id, scope, check_id;

-- gaps: by what is missing
from report.gaps
order by gap_no, run_id;

-- findings: what matters most first
from report.findings
order by finding_no;

-- series: runs in the order of their series
from main.series
order by series, place;

-- suite_standings: the best first, over the suite before single benchmarks
from main.suite_standings
order by benchmark nulls first, place nulls last, entrant;

-- suite_comparisons: over the suite first, then the largest changes
from main.suite_comparisons
order by benchmark nulls first, abs(delta) desc nulls last, base, candidate;

-- suite_modes: those of most benchmarks first
from main.suite_modes
order by n_benchmarks desc, n_failures desc, mode;

-- notices: in the order of the checks
from raw.notices
order by no;

-- comparisons: the metric to read first leads
from main.comparisons
order by benchmark, pair_no, not is_lead, metric;

-- ledgers: the line that sums up several is the last
from report.ledgers
order by
    base,
    candidate,
    metric,
    list_position(['task mix', 'bucket transitions', 'failure modes', 'funnel', 'slices'], ledger),
    policy desc,
    slice_key,
    line_no = 0,
    line_no;

-- changed_tasks: the largest changes first
from report.changed_tasks
order by base, candidate, metric, is_gain, rank;

-- transitions: from always to never
from report.transitions
order by
    base,
    candidate,
    list_position(['always', 'sometimes', 'never'], bucket_before),
    list_position(['always', 'sometimes', 'never'], bucket_after);

-- refused_tasks: tasks of one id with two questions, and how many there are
select
    base,
    candidate,
    task_id,
    count(*) over (partition by base, candidate) as n_refused
from main.comparison_tasks
where pairing = 'contradicted'
qualify row_number() over (
    partition by base, candidate order by try_cast(task_id as bigint), task_id
) <= 20
order by base, candidate, try_cast(task_id as bigint), task_id;

-- comparison_metrics: scores, then what is missing, then resources
select
    *,
    metric like '%rate' or metric like 'pass%' or metric = 'coverage' as is_rate
from main.comparison_metrics
where base_value is not null or candidate_value is not null
order by
    base,
    candidate,
    list_position(
        [
            'pass_at_k', 'pass_hat_k', 'coverage', 'failed_attempt_rate', 'missing_rate', 'unscored_rate',
            'clean_rate', 'input_tokens', 'output_tokens', 'n_turns', 'n_tool_calls', 'n_tool_errors', 'duration_s'
        ],
        metric
    );

-- flips: the most changed tasks of each side of a comparison
select
    flips.*,
    benchmark,
    pair_no,
    outcomes.base_n_passed,
    outcomes.base_n_scored,
    outcomes.candidate_n_passed,
    outcomes.candidate_n_scored,
    tasks.prompt,
    row_number() over (
        partition by base, candidate, side
        order by abs(change) desc, try_cast(task_id as bigint), task_id
    ) as rank
from main.flips
inner join main.comparison_tasks as outcomes using (base, candidate, task_id)
inner join staging.run_pairs using (benchmark, base, candidate)
inner join main.tasks using (benchmark, task_id)
qualify rank <= 3
order by benchmark, pair_no, side desc, rank;

-- strips: tasks by runs, from what no run solves to what every run does
from report.strips
order by benchmark, task_no, run_id;

-- evidence: cited attempts; $1, $2 and $3 list their runs, tasks and repeats. The list of tasks keeps a view from sorting all texts
with wanted as (
    select
        unnest($1) as run_id,
        unnest($2) as task_id,
        unnest($3) as rollout_index
)
select
    rollouts.* replace (left(final_text, 600) as final_text),
    length(rollouts.final_text) as n_characters,
    left(prompt, 400) as prompt,
    length(questions.prompt) as n_prompt_characters,
    modes.mode,
    left(modes.snippet, 300) as snippet,
    modes.evidence_seq
from (from main.rollouts where list_contains($2, task_id)) as rollouts
semi join wanted using (run_id, task_id, rollout_index)
left join (
    select
        run_id as asked_by,
        task_id as asked_task,
        prompt_sha as asked_sha,
        prompt
    from main.task_prompts
    where list_contains($2, task_id)
) as questions
    on asked_by = run_id and asked_task = task_id and asked_sha is not distinct from prompt_sha
left join (from main.rollout_modes where is_primary and list_contains($2, task_id)) as modes
    using (run_id, task_id, rollout_index)
order by run_id, try_cast(task_id as bigint), task_id, rollout_index;

-- evidence_events: events of attempts; $4 lists their numbers
with wanted as (
    select
        unnest($1) as run_id,
        unnest($2) as task_id,
        unnest($3) as rollout_index,
        unnest($4) as seq
)
select
    run_id,
    task_id,
    rollout_index,
    seq,
    kind,
    role,
    tool,
    call_id,
    is_error,
    left(coalesce(words, text, arguments), 400) as words,
    length(coalesce(words, text, arguments)) as n_characters
from warehouse.raw.events
inner join staging.rollout_keys using (record_id)
semi join wanted using (run_id, task_id, rollout_index, seq)
where
    seq > 0
    -- Otherwise every text would be read before the join.
    and record_id in (
        select record_id
        from staging.rollout_keys
        semi join wanted using (run_id, task_id, rollout_index)
    )
order by run_id, try_cast(task_id as bigint), task_id, rollout_index, seq;

-- evidence_differences: each change not made as expected, as JSON, and the first event that differs from the closest pass
with wanted as (
    select
        unnest($1) as run_id,
        unnest($2) as task_id,
        unnest($3) as rollout_index
)
select
    run_id,
    task_id,
    rollout_index,
    call_no,
    calls.status,
    calls.tool as name,
    calls.detail as one,
    left(events.arguments, 20000) as other
from main.expected_calls as calls
semi join wanted using (run_id, task_id, rollout_index)
left join main.events using (run_id, task_id, rollout_index, seq)
where
    calls.status not in ('made', 'none')
    and (calls.status <> 'unasked' or coalesce(calls.is_write, false))
qualify row_number() over (partition by run_id, task_id, rollout_index order by call_no) <= 6
union all by name
select
    run_id,
    task_id,
    rollout_index,
    'contrast' as status,
    concat(run_id, '/', task_id, ':', passing_index, '#' || passing_seq) as name,
    passing_event as one,
    failing_event as other
from main.contrasts
semi join wanted using (run_id, task_id, rollout_index)
order by run_id, task_id, rollout_index, call_no nulls last;

-- varied_settings: the score and the instructions first
from report.varied_settings
order by benchmark, list_position(['score', 'system prompt'], setting) nulls last, setting;
