"""Why a run fails a task, and one rollout whole: what is recorded of them, as plain values."""

from __future__ import annotations

from pipeline.answers.names import (
    Row,
    bounded,
    find_run,
    find_task,
    grouped,
    short,
    task_names,
)
from pipeline.citation import SHAPE, Citation, bounded_name, parse
from pipeline.errors import UsageError, listed
from pipeline.text import one_line, parsed
from pipeline.warehouse import Warehouse

MOST_ATTEMPTS = 32
MOST_RUNS = 40
MOST_CALLS = 20
MOST_ERRORS = 5
LONGEST_TITLE = 300
SIDES = ("failing", "passing")
# How much of a text is kept for a program, and how much of it a page shows.
KEPT = {"prompt": 1000, "note": 1000, "answer": 400, "snippet": 240, "failure_message": 400} | {
    f"{side}_event": 300 for side in SIDES
}
NAMES = ("said_by", "failure_class", "tool")
# Of queries on a task, $1 is its run and $2 the task.
# The question most rows of the run ask; of a task that it lacks, what its benchmark asks.
QUESTION = """
    select prompt, prompt_sha
    from (
        select prompt, prompt_sha, 0 as place, n_rows from task_prompts
        where run_id = $1 and task_id = $2
        union all
        select prompt, prompt_sha, 1 as place, 0 as n_rows from tasks
        where benchmark = $3 and task_id = $2
    )
    order by place, n_rows desc, prompt_sha
    limit 1
"""
RUNS = """
    select
        run_id, outcomes.bucket, n_passed, n_scored, n_expected, mean_reward,
        case when $4 is not null then list_contains(questions, $4) end as is_same_question,
        cause, source, note, intervention, evidence, said_by, label_source
    from (select run_id from runs where benchmark = $3)
    left join (from task_outcomes where task_id = $2) as outcomes using (run_id)
    left join (
        select run_id, list(prompt_sha) as questions
        from task_prompts where task_id = $2 group by all
    ) using (run_id)
    left join (from root_causes where task_id = $2) using (run_id)
    left join (
        select run_id, said_by, source_file || ':' || source_line as label_source
        from labels where task_id = $2
    ) using (run_id)
    order by run_id <> $1, run_id
"""
ATTEMPTS = """
    select
        $1 || '/' || $2 || ':' || rollout_index as citation,
        case
            when outcome <> 'scored' then outcome
            when is_pass then 'passed'
            when not is_pass then 'failed'
            else 'pass unknown'
        end as verdict,
        rollout_index, outcome, is_pass, reward, answer, last_stage, failure_class,
        n_turns, n_tool_calls, n_tool_errors,
        n_checks_passed, n_checks_passed + n_checks_failed as n_checks,
        n_met_calls, n_expected_calls, failure_message,
        count(*) over () as n_attempts
    from rollout_features
    left join (select run_id, task_id, rollout_index, answer from rollouts)
        using (run_id, task_id, rollout_index)
    left join rollout_stages using (run_id, task_id, rollout_index)
    where run_id = $1 and task_id = $2
    order by rollout_index is distinct from $3, rollout_index
    limit $4
"""
MODES = """
    select
        rollout_index, mode, reason, is_primary, evidence_seq as seq, events.kind, tool,
        snippet, n_characters as snippet_chars
    from (from rollout_modes where run_id = $1 and task_id = $2) as modes
    left join (
        select rollout_index, seq as evidence_seq, kind, tool from events
        where run_id = $1 and task_id = $2
    ) as events using (rollout_index, evidence_seq)
    order by rollout_index, is_primary desc, mode
"""
NOTES = """
    select rollout_index, kind, note, seq
    from failure_notes
    where run_id = $1 and task_id = $2
    order by rollout_index, note_no
"""
# Of the attempt that was cited, else of the first that failed: the calls its task expects that it
# did not make so, and those that nobody expects. What only reads is not to be asked for.
EXPECTED = """
    select
        $1 || '/' || $2 || ':' || rollout_index || coalesce('#' || seq, '') as citation,
        calls.* exclude (run_id, task_id, rollout_index, call_no),
        n_expected, n_made
    from expected_calls as calls
    inner join (
        select
            rollout_index,
            count(*) filter (expected_no is not null) as n_expected,
            count(*) filter (calls.status = 'made') as n_made
        from expected_calls as calls
        left join rollouts using (run_id, task_id, rollout_index)
        where run_id = $1 and task_id = $2
        group by rollout_index
        order by coalesce(rollout_index <> $3, true), min(is_pass), rollout_index
        limit 1
    ) using (rollout_index)
    where
        run_id = $1 and task_id = $2
        and status not in ('made', 'none')
        and (status <> 'unasked' or coalesce(is_write, true))
    order by status = 'unasked', call_no
    limit $4
"""
# The attempt that was cited, else the closest pair of the task.
CONTRAST = """
    select
        $1 || '/' || $2 || ':' || rollout_index || coalesce('#' || seq, '') as failing,
        $1 || '/' || $2 || ':' || passing_index || coalesce('#' || passing_seq, '') as passing,
        difference,
        failing_event, failing_chars as failing_event_chars,
        passing_event, passing_chars as passing_event_chars,
        coalesce(arguments, []) as arguments,
        n_calls, n_passing_calls, n_common, n_common_first,
        coalesce(tools_only_failing, []) as tools_only_failing,
        coalesce(tools_only_passing, []) as tools_only_passing,
        differences, is_closest, count(*) over () as n_contrasts
    from contrasts
    where run_id = $1 and task_id = $2
    order by rollout_index is distinct from $3, is_closest desc, rollout_index
    limit 1
"""
ERRORS = """
    select
        source,
        signature,
        count(*) as n_events,
        count(distinct rollout_index) as n_rollouts,
        count(distinct rollout_index) filter (is_pass) as n_passed,
        arg_min(citation, (rollout_index, place)) as example
    from staging.errors
    left join rollout_features using (run_id, task_id, rollout_index)
    where run_id = $1 and task_id = $2
    group by all
    order by n_rollouts desc, n_events desc, source, signature
    limit $3
"""
KEY = "run_id = ? and task_id = ? and rollout_index = ?"
PROMPTS = """
    select system_prompt, prompt from task_prompts
    where run_id = ? and task_id = ? and prompt_sha is not distinct from ?
"""
EVENTS = f"""
    select * exclude (run_id, task_id, rollout_index) from events where {KEY} order by seq
"""


def refuse_malformed(text: str) -> None:
    """Say that a text names no task, before anything is opened."""
    run_id, _, name = text.partition("/")
    if not (run_id and name):
        hint = "For example: blade why run_a/17"
        raise UsageError(f"{one_line(text)} is not RUN/TASK.", hint=hint)


def _find(warehouse: Warehouse, text: str) -> Row:
    """Task ids may hold slashes and colons: a task of that name goes before a citation."""
    refuse_malformed(text)
    run_id, _, name = text.partition("/")
    run = find_run(warehouse, run_id)
    asked = {"run_id": run["run_id"], "rollout_index": None, "benchmark": run["benchmark"]}
    citation, tasks = parse(text), task_names(warehouse, run)
    if citation is None or bounded_name(name) in tasks:
        return {**asked, "task_id": find_task(run, bounded_name(name), tasks)}
    asked |= {"task_id": find_task(run, citation.task_id, tasks)}
    query = "select rollout_index from rollout_features where run_id = ? and task_id = ? order by 1"
    repeats = warehouse.column(query, run["run_id"], asked["task_id"])
    if citation.rollout_index not in repeats:
        hint = f"Attempts at this task: {listed(repeats) or 'none'}"
        raise UsageError(f"{one_line(text)}: no such attempt.", hint=hint)
    return {**asked, "rollout_index": citation.rollout_index}


def task_story(warehouse: Warehouse, task: str) -> Row:
    """The task across runs, then its attempts in the run that was asked for, as plain values."""
    asked = _find(warehouse, task)
    key, benchmark = (asked["run_id"], asked["task_id"]), asked["benchmark"]
    nothing = {"prompt": None, "prompt_sha": None}
    (question,) = warehouse.rows(QUESTION, *key, benchmark) or [nothing]
    query = "select slices from tasks where benchmark = ? and task_id = ?"
    slices = warehouse.column(query, benchmark, key[1])[:1]
    runs = [_cut(run) for run in warehouse.rows(RUNS, *key, benchmark, question["prompt_sha"])]
    found = warehouse.rows(ATTEMPTS, *key, asked["rollout_index"], MOST_ATTEMPTS)
    n_attempts = [attempt.pop("n_attempts") for attempt in found]
    modes = grouped(map(_cut, warehouse.rows(MODES, *key)), "rollout_index")
    notes = grouped(map(_cut, warehouse.rows(NOTES, *key)), "rollout_index")
    contrasts = [_cut(row) for row in warehouse.rows(CONTRAST, *key, asked["rollout_index"])]
    return {
        **asked,
        "question": _cut(question)["prompt"],
        "slices": {str(short(name)): short(each[name]) for each in slices for name in sorted(each)},
        "n_runs": len(runs),
        "runs": runs[:MOST_RUNS],
        "n_attempts": n_attempts[0] if found else 0,
        "attempts": [
            {
                **_cut(attempt),
                "modes": modes[attempt["rollout_index"]],
                "notes": notes[attempt["rollout_index"]],
            }
            for attempt in found
        ],
        "expected_calls": warehouse.rows(EXPECTED, *key, asked["rollout_index"], MOST_CALLS),
        "contrast": contrasts[0] if contrasts else None,
        "error_signatures": warehouse.rows(ERRORS, *key, MOST_ERRORS),
    }


def _cut(row: Row) -> Row:
    """Texts of any length with the whole's, which stands beside what is a beginning itself."""
    return {
        name: bounded(value, KEPT[name], n_characters=row.get(f"{name}_chars"))
        if name in KEPT
        else (short(value) if name in NAMES else value)
        for name, value in row.items()
        if not name.endswith("_chars")
    }


def cited(text: str) -> Citation:
    """The citation that a text is."""
    citation = parse(text)
    if citation is None:
        message = f"{one_line(text, LONGEST_TITLE)!r} is not {SHAPE}, such as run_a/17:0#3"
        raise UsageError(f"{message}.")
    return citation


def cited_rollout(warehouse: Warehouse, text: str) -> Row:
    """The rollout that is cited with its prompts and events; the one event where it is."""
    citation = cited(text)
    run = find_run(warehouse, citation.run_id)
    task_id = find_task(run, citation.task_id, task_names(warehouse, run))
    key = (run["run_id"], task_id, citation.rollout_index)
    found = warehouse.rows(f"from rollouts where {KEY}", *key)
    if not found:
        query = "select rollout_index from rollouts where run_id = ? and task_id = ? order by all"
        recorded = listed(warehouse.column(query, *key[:2])) or "none"
        name = one_line(str(Citation(*key, None)), LONGEST_TITLE)
        raise UsageError(f"{name}: no such rollout.", hint=f"Rollouts of this task: {recorded}")
    prompts = warehouse.rows(PROMPTS, *key[:2], found[0]["prompt_sha"])
    events = warehouse.rows(EVENTS, *key)
    chosen = [event for event in events if citation.seq in (None, event["seq"])]
    if citation.seq is not None and not chosen:
        hint = f"Its events are numbered 1 to {len(events)}." if events else "It has none."
        raise UsageError(f"#{citation.seq}: the rollout has no such event.", hint=hint)
    return {
        **found[0],
        "verifier": parsed(found[0]["verifier"]),
        "prompts": prompts[0] if prompts else {},
        "events": chosen,
    }
