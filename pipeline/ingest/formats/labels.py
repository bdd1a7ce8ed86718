"""One line of labels.jsonl: what a person found in a task or a rollout, or another name of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ... import citation
from ...citation import Citation, bounded_name
from . import gym

CAUSES = ("KG", "UK", "BI", "TI", "IR", "DA")
UNEXPLAINED = "UNEXPLAINED"
INTERVENTIONS = ("harness", "prompt", "data", "training", "verifier repair", "infrastructure")
LONGEST_TEXT = 10_000
LONGEST_QUOTE = 60
LONGEST_MODE = 100
LARGEST = 2**31


def _value(row: dict[str, Any], field: str, wanted: str, *types: type) -> Any:
    """A value of one of these types, or null."""
    value = row.get(field)
    # By exact type: true is an integer to Python.
    if value is not None and type(value) not in types:
        raise ValueError(f"{field} is {gym.json_type(value)}, not {wanted}")
    return value


@dataclass(frozen=True)
class Label:
    """A label of a task or a rollout; whether they exist is checked in the warehouse.

    Where `renamed` is given, every rollout of that mode has `mode` instead, and nothing else is.
    """

    run_id: str
    task_id: str
    cause: str | None = None
    intervention: str | None = None
    note: str | None = None
    said_by: str | None = None
    rollout_index: int | None = None
    mode: str | None = None
    seed: int | None = None
    renamed: str | None = None
    evidence: tuple[Citation, ...] = ()

    @property
    def is_of_task(self) -> bool:
        """Whether it gives the cause of a task, not of one rollout."""
        return self.rollout_index is None and self.renamed is None


def read(line: str) -> Label:
    """Parse a label; ValueError if it is invalid. Unknown fields are ignored."""
    row = json.loads(gym.repaired(line))
    if row.get("rename") is not None:
        if row.get("to") is None:
            raise ValueError("to is missing: the new name of the mode")
        return Label("", "", renamed=_words(row, "rename"), mode=_words(row, "to"))
    index = _number(row, "rollout")
    mode = _words(row, "mode")
    if mode is not None and index is None:
        raise ValueError("rollout is missing: a mode is of one rollout")
    if index is not None and mode is None and row.get("cause") is None:
        raise ValueError("mode and cause are missing")
    return Label(
        run_id=_key(row, "run", "a string", str),
        task_id=bounded_name(_key(row, "task", "a string or a whole number", str, int)),
        rollout_index=index,
        mode=mode,
        seed=_number(row, "seed"),
        cause=None if mode and row.get("cause") is None else _cause(row),
        intervention=_known(row, "intervention", INTERVENTIONS),
        note=_text(row, "note"),
        said_by=_text(row, "by"),
        evidence=_evidence(row),
    )


def _key(row: dict[str, Any], name: str, wanted: str, *types: type) -> str:
    """`run` or `run_id`, `task` or `task_id`; both if they are equal."""
    values = {_value(row, field, wanted, *types) for field in (name, f"{name}_id")}
    known = {str(value) for value in values if value is not None}
    if not known:
        raise ValueError(f"{name} is missing")
    if len(known) > 1:
        raise ValueError(f"{name} and {name}_id differ")
    return known.pop()


def _text(row: dict[str, Any], field: str) -> str | None:
    value: str | None = _value(row, field, "a string", str)
    return None if value is None else value[:LONGEST_TEXT]


def _words(row: dict[str, Any], field: str) -> str | None:
    """A mode in a few words, on one line."""
    text = _text(row, field)
    if text is None:
        return None
    words = " ".join(text.split())
    if not words or len(words) > LONGEST_MODE:
        raise ValueError(f"{field} is not a few words: 1 to {LONGEST_MODE} characters")
    return words


def _number(row: dict[str, Any], field: str) -> int | None:
    value: int | None = _value(row, field, "a whole number", int)
    if value is not None and not 0 <= value < LARGEST:
        raise ValueError(f"{field} is not a number from 0 to {LARGEST - 1}")
    return value


def _known(row: dict[str, Any], field: str, known: Sequence[str], others: str = "") -> str | None:
    value = _text(row, field)
    if value is not None and value not in known:
        listed = ", ".join(known) + others
        raise ValueError(f"unknown {field} {_quoted(value)}: it is one of {listed}")
    return value


def _cause(row: dict[str, Any]) -> str:
    first, plus, second = (_text(row, "cause") or "").partition("+")
    if plus and first in CAUSES and second in CAUSES and first != second:
        return f"{first}+{second}"
    cause = _known(row, "cause", (*CAUSES, UNEXPLAINED), ", or two of the first six such as BI+KG")
    if cause is None:
        raise ValueError("cause is missing")
    return cause


def _evidence(row: dict[str, Any]) -> tuple[Citation, ...]:
    """One citation, a list of them, or none."""
    value = row.get("evidence")
    listed = value if isinstance(value, list) else [] if value is None else [value]
    citations = []
    for entry in listed:
        if not isinstance(entry, str):
            raise ValueError(f"evidence is {gym.json_type(entry)}, not {citation.SHAPE}")
        cited = citation.parse(entry)
        if cited is None:
            raise ValueError(f"evidence {_quoted(entry)} is not {citation.SHAPE}")
        citations.append(cited)
    return tuple(citations)


def _quoted(text: str) -> str:
    return repr(text if len(text) <= LONGEST_QUOTE else f"{text[: LONGEST_QUOTE - 1]}…")
