"""What a predicate of a profile may use, from askable.toml: columns of a rollout, and functions."""

from __future__ import annotations

import tomllib
from pathlib import Path

LISTED = tomllib.loads(Path(__file__).with_name("askable.toml").read_text(encoding="utf-8"))


def _typed(table: str) -> dict[str, str]:
    """Columns with their types."""
    return {name: kind for kind, listed in LISTED[table].items() for name in listed.split()}


ROLLOUT_COLUMNS = _typed("rollouts")
TEXTS, EVENTS, LONG_COLUMNS = _typed("texts"), _typed("events"), _typed("long")
FEATURE_COLUMNS = {**TEXTS, **EVENTS, **_typed("features")}
ASKABLE = {**FEATURE_COLUMNS, **LONG_COLUMNS}
# What may be shown as evidence: the number of an event, or a text.
EVIDENCE = {**TEXTS, **EVENTS, **LONG_COLUMNS}
FUNCTIONS = frozenset(LISTED["functions"]["allowed"].split())
SLOW_FUNCTIONS = frozenset(LISTED["functions"]["slow"].split())
# Values of these types are read and written by the clock of the machine.
ZONED_TYPES = frozenset(
    ("timestamptz", "timetz", "timestamp with time zone", "time with time zone")
)
