"""Where a failing attempt parts from the closest passing one, as plain values."""

from __future__ import annotations

import json
from itertools import takewhile
from typing import Any

from pipeline.cli.lookup import Row, bounded, rows
from pipeline.cli.why_task import Asked
from pipeline.text import json_text
from pipeline.warehouse import Warehouse

EVENT_CHARACTERS = 300
VALUE_CHARACTERS = 120
MOST_ARGUMENTS = 6
# So much of what two long values share is shown before they part.
LEAD = 20

# The attempt that was cited, else the closest pair of the task.
CONTRAST = """
    select *, count(*) over () as n_contrasts
    from contrasts where run_id = ? and task_id = ?
    order by rollout_index is distinct from ?, is_closest desc, rollout_index
    limit 1
"""
ARGUMENTS = """
    select arguments from events
    where run_id = ? and task_id = ? and rollout_index = ? and seq = ? and kind = 'tool_call'
"""


def contrast(warehouse: Warehouse, asked: Asked) -> Row | None:
    """The pair of attempts, what differs first, and what stands there in each."""
    found = rows(warehouse, CONTRAST, asked.run_id, asked.task_id, asked.rollout_index)
    if not found:
        return None
    row = found[0]
    sides = {
        "failing": (row["rollout_index"], row["seq"]),
        "passing": (row["passing_index"], row["passing_seq"]),
    }
    return {
        "failing": asked.cited(*sides["failing"]),
        "passing": asked.cited(*sides["passing"]),
        "difference": row["difference"],
        "failing_event": _event(row, "failing"),
        "passing_event": _event(row, "passing"),
        "arguments": _arguments(warehouse, asked, sides)
        if row["difference"] == "arguments"
        else [],
        "n_calls": row["n_calls"],
        "n_passing_calls": row["n_passing_calls"],
        "n_common": row["n_common"],
        "n_common_first": row["n_common_first"],
        "tools_only_failing": list(row["tools_only_failing"] or []),
        "tools_only_passing": list(row["tools_only_passing"] or []),
        "differences": row["differences"],
        "is_closest": row["is_closest"],
        "n_contrasts": row["n_contrasts"],
    }


def _event(row: Row, side: str) -> Row | None:
    return bounded(row[f"{side}_event"], EVENT_CHARACTERS, n_characters=row[f"{side}_chars"])


def _arguments(
    warehouse: Warehouse, asked: Asked, sides: dict[str, tuple[int, int | None]]
) -> list[Row]:
    """The arguments in which two calls of one tool differ: long calls look alike at first."""
    failing, passing = (
        _call(rows(warehouse, ARGUMENTS, asked.run_id, asked.task_id, *side))
        for side in sides.values()
    )
    names = [
        name for name in sorted({*failing, *passing}) if failing.get(name) != passing.get(name)
    ]
    return [_argument(name, failing, passing) for name in names[:MOST_ARGUMENTS]]


def _call(found: list[Row]) -> dict[str, str]:
    """The arguments of a call by name, each as JSON; none where they are no object."""
    try:
        read: Any = json.loads(found[0]["arguments"]) if found else None
    except (TypeError, ValueError, RecursionError):
        return {}
    return (
        {name: json_text(value) for name, value in read.items()} if isinstance(read, dict) else {}
    )


def _argument(name: str, failing: dict[str, str], passing: dict[str, str]) -> Row:
    one, other = failing.get(name), passing.get(name)
    return {
        "name": name[:VALUE_CHARACTERS],
        "failing": _from_parting(one, other),
        "passing": _from_parting(other, one),
    }


def _from_parting(text: str | None, other: str | None) -> Row | None:
    """A value from shortly before where it parts from the other one."""
    if text is None:
        return None
    n_same = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(text, other or "", strict=False))
    )
    start = max(0, n_same - LEAD) if len(text) > VALUE_CHARACTERS else 0
    shown = ("…" if start else "") + text[start : start + VALUE_CHARACTERS]
    return {"text": shown, "n_characters": len(text)}
