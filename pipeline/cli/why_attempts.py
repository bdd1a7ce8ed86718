"""The attempts at a task, each with its modes and their evidence, as plain values."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from pipeline.cli.lookup import Row, bounded, rows, short
from pipeline.cli.why_task import Asked
from pipeline.warehouse import Warehouse

MOST_ATTEMPTS = 32
SNIPPET_CHARACTERS = 240
SAID_CHARACTERS = 400
# What was said of an attempt by what judged or ran it, and under which name.
SAYERS = {
    "verifier_text": "verifier",
    "verifier_error": "verifier error",
    "sandbox_error": "sandbox",
    "model_error": "model call",
    "failure_message": "failed attempt",
}

ATTEMPTS = """
    select
        features.rollout_index,
        features.outcome,
        features.is_pass,
        features.reward,
        left(rollouts.answer, ?) as answer,
        length(rollouts.answer) as n_answer_characters,
        stages.last_stage,
        features.failure_class,
        features.n_turns,
        features.n_tool_calls,
        features.n_tool_errors,
        features.n_checks_passed,
        features.n_checks_passed + features.n_checks_failed as n_checks,
        features.n_matched_actions,
        features.n_expected_actions,
        features.verifier_text,
        features.verifier_error,
        features.sandbox_error,
        features.model_error,
        features.failure_message,
        count(*) over () as n_attempts
    from rollout_features as features
    left join rollouts using (run_id, task_id, rollout_index)
    left join rollout_stages as stages using (run_id, task_id, rollout_index)
    where run_id = ? and task_id = ?
    order by features.rollout_index is distinct from ?, features.rollout_index
    limit ?
"""
MODES = """
    with here as (
        from rollout_modes where run_id = ? and task_id = ?
    ),

    places as (
        select rollout_index, seq, kind, tool from events where run_id = ? and task_id = ?
    )

    select
        here.rollout_index,
        here.mode,
        modes.title,
        here.cause,
        here.intervention,
        here.rule,
        here.evidence_seq as seq,
        places.kind,
        places.tool,
        here.snippet,
        here.n_characters
    from here
    left join failure_modes as modes on modes.run_id = here.run_id and modes.mode = here.mode
    left join places
        on places.rollout_index = here.rollout_index and places.seq = here.evidence_seq
    order by here.rollout_index, here.is_primary desc, here.severity desc, here.mode
"""


@dataclass(frozen=True)
class Attempts:
    """Those shown, and how many there are."""

    n_attempts: int
    shown: list[Row]


def attempts(warehouse: Warehouse, asked: Asked) -> Attempts:
    """The attempts in order, the one cited before them all."""
    key = (asked.run_id, asked.task_id)
    found = rows(warehouse, ATTEMPTS, SAID_CHARACTERS, *key, asked.rollout_index, MOST_ATTEMPTS)
    modes: dict[int, list[Row]] = defaultdict(list)
    for row in rows(warehouse, MODES, *key, *key) if found else []:
        modes[row.pop("rollout_index")].append(_mode(row))
    return Attempts(
        found[0]["n_attempts"] if found else 0,
        [_attempt(asked, row, modes[row["rollout_index"]]) for row in found],
    )


def verdict(attempt: Row) -> str:
    """How an attempt ended, in a word or two."""
    if attempt["outcome"] != "scored":
        return str(attempt["outcome"])
    return {True: "passed", False: "failed", None: "pass unsettled"}[attempt["is_pass"]]


def _attempt(asked: Asked, row: Row, modes: list[Row]) -> Row:
    whole = row.pop("n_answer_characters")
    facts = {
        **{name: value for name, value in row.items() if name not in (*SAYERS, "n_attempts")},
        "answer": bounded(row["answer"], SAID_CHARACTERS, n_characters=whole),
        "failure_class": short(row["failure_class"]),
    }
    said = {name: bounded(row[name], SAID_CHARACTERS) for name in SAYERS if row[name]}
    return {
        "citation": asked.cited(row["rollout_index"]),
        "verdict": verdict(row),
        **facts,
        "said": said,
        "primary": modes[0] if modes else None,
        "others": modes[1:],
    }


def _mode(row: Row) -> Row:
    snippet = bounded(row["snippet"], SNIPPET_CHARACTERS, n_characters=row.pop("n_characters"))
    return {**row, "tool": short(row["tool"]), "snippet": snippet}
