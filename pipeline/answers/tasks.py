"""A task in all runs with its attempts, and one rollout, as plain values."""

from __future__ import annotations

from ..citation import SHAPE, Citation, bounded_name, parse
from ..errors import UsageError, listed
from ..files import read_queries
from ..text import one_line, parsed
from ..warehouse import Warehouse
from .names import (
    Row,
    bounded,
    find_run,
    find_task,
    grouped,
    short,
    task_names,
)

QUERIES = read_queries("answers/tasks")
MOST_ATTEMPTS = 32
MOST_RUNS = 40
MOST_CALLS = 20
MOST_ERRORS = 5
LONGEST_TITLE = 300
SIDES = ("failing", "passing")
# The longest texts of a row, in characters.
LONGEST = {"prompt": 1000, "note": 1000, "answer": 400, "snippet": 240, "failure_message": 400} | {
    f"{side}_event": 300 for side in SIDES
}
NAMES = ("said_by", "failure_class", "tool")
KEY = "run_id = ? and task_id = ? and rollout_index = ?"
EVENTS = f"""
    select * exclude (run_id, task_id, rollout_index) from events where {KEY} order by seq
"""


def refuse_malformed(text: str) -> None:
    """Raise an error if a text is not RUN/TASK, before a file is opened."""
    run_id, _, name = text.partition("/")
    if not (run_id and name):
        hint = "For example: blade why run_a/17"
        raise UsageError(f"{one_line(text)} is not RUN/TASK.", hint=hint)


def _find(warehouse: Warehouse, text: str) -> Row:
    """The run, task and rollout of a text; a task id with a colon comes before a citation."""
    refuse_malformed(text)
    run_id, _, name = text.partition("/")
    run = find_run(warehouse, run_id)
    subject = {"run_id": run["run_id"], "rollout_index": None, "benchmark": run["benchmark"]}
    citation = parse(text)
    tasks = task_names(warehouse, run)
    if citation is None or bounded_name(name) in tasks:
        return {**subject, "task_id": find_task(run, bounded_name(name), tasks)}
    subject |= {"task_id": find_task(run, citation.task_id, tasks)}
    query = "select rollout_index from rollout_features where run_id = ? and task_id = ? order by 1"
    repeats = warehouse.column(query, run["run_id"], subject["task_id"])
    if citation.rollout_index not in repeats:
        hint = f"Attempts at this task: {listed(repeats) or 'none'}"
        raise UsageError(f"{one_line(text)}: no such attempt.", hint=hint)
    return {**subject, "rollout_index": citation.rollout_index}


def task_story(warehouse: Warehouse, task: str) -> Row:
    """The task in all runs, and its attempts in one run, as plain values."""
    subject = _find(warehouse, task)
    key = (subject["run_id"], subject["task_id"])
    benchmark = subject["benchmark"]
    cited_index = subject["rollout_index"]
    nothing = {"prompt": None, "prompt_sha": None}
    (question,) = warehouse.rows(QUERIES["question"], *key, benchmark) or [nothing]
    query = "select slices from tasks where benchmark = ? and task_id = ?"
    slices = warehouse.column(query, benchmark, key[1])[:1]
    runs = warehouse.rows(QUERIES["runs"], *key, benchmark, question["prompt_sha"])
    attempts = warehouse.rows(QUERIES["attempts"], *key, cited_index, MOST_ATTEMPTS)
    n_attempts = [attempt.pop("n_attempts") for attempt in attempts]
    modes = grouped(map(_shortened, warehouse.rows(QUERIES["modes"], *key)), "rollout_index")
    notes = grouped(map(_shortened, warehouse.rows(QUERIES["notes"], *key)), "rollout_index")
    contrasts = warehouse.rows(QUERIES["contrast"], *key, cited_index)
    return {
        **subject,
        "question": _shortened(question)["prompt"],
        "slices": {str(short(name)): short(each[name]) for each in slices for name in sorted(each)},
        "n_runs": len(runs),
        "runs": [_shortened(run) for run in runs[:MOST_RUNS]],
        "n_attempts": n_attempts[0] if attempts else 0,
        "attempts": [
            {
                **_shortened(attempt),
                "modes": modes[attempt["rollout_index"]],
                "notes": notes[attempt["rollout_index"]],
            }
            for attempt in attempts
        ],
        "expected_calls": warehouse.rows(QUERIES["expected_calls"], *key, cited_index, MOST_CALLS),
        "contrast": _shortened(contrasts[0]) if contrasts else None,
        "error_signatures": warehouse.rows(QUERIES["errors"], *key, MOST_ERRORS),
    }


def _shortened(row: Row) -> Row:
    """A row with long texts cut; a column `x_chars` has the full length of the text `x`."""
    return {
        name: bounded(value, LONGEST[name], n_characters=row.get(f"{name}_chars"))
        if name in LONGEST
        else (short(value) if name in NAMES else value)
        for name, value in row.items()
        if not name.endswith("_chars")
    }


def is_citation(text: str) -> bool:
    """Whether a text cites a rollout, be it there or not."""
    return parse(text) is not None


def cited(text: str) -> Citation:
    citation = parse(text)
    if citation is None:
        message = f"{one_line(text, LONGEST_TITLE)!r} is not {SHAPE}, such as run_a/17:0#3"
        raise UsageError(f"{message}.")
    return citation


def cited_key(warehouse: Warehouse, text: str) -> tuple[str, str, int]:
    """Run, task and repeat of a citation, whose names may be given in part."""
    citation = cited(text)
    run = find_run(warehouse, citation.run_id)
    task_id = find_task(run, citation.task_id, task_names(warehouse, run))
    return run["run_id"], task_id, citation.rollout_index


def cited_rollout(warehouse: Warehouse, text: str) -> Row:
    """The cited rollout with its prompts and events, or with only the cited event."""
    citation = cited(text)
    key = cited_key(warehouse, text)
    named = "left join paired_tasks as paired using (run_id, task_id)"
    columns = "rollouts.*, paired.recorded_task_id"
    rollouts = warehouse.rows(f"select {columns} from rollouts {named} where {KEY}", *key)
    if not rollouts:
        query = "select rollout_index from rollouts where run_id = ? and task_id = ? order by all"
        recorded = listed(warehouse.column(query, *key[:2])) or "none"
        name = one_line(str(Citation(*key, None)), LONGEST_TITLE)
        raise UsageError(f"{name}: no such rollout.", hint=f"Rollouts of this task: {recorded}")
    prompts = warehouse.rows(QUERIES["prompts"], *key[:2], rollouts[0]["prompt_sha"])
    events = warehouse.rows(EVENTS, *key)
    chosen = [event for event in events if citation.seq in (None, event["seq"])]
    if citation.seq is not None and not chosen:
        hint = f"Its events are numbered 1 to {len(events)}." if events else "It has none."
        raise UsageError(f"#{citation.seq}: the rollout has no such event.", hint=hint)
    return {
        **rollouts[0],
        "verifier": parsed(rollouts[0]["verifier"]),
        "prompts": prompts[0] if prompts else {},
        "events": chosen,
    }
