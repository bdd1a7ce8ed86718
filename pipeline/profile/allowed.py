"""The columns and functions that predicates of a profile may use, from allowed.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path

LISTED = tomllib.loads(Path(__file__).with_name("allowed.toml").read_text(encoding="utf-8"))


def _typed(table: str) -> dict[str, str]:
    """Columns with their types."""
    return {name: kind for kind, listed in LISTED[table].items() for name in listed.split()}


ROLLOUT_COLUMNS = _typed("rollouts")
TEXTS = _typed("texts")
EVENTS = _typed("events")
LONG_COLUMNS = _typed("long")
FEATURE_COLUMNS = {**TEXTS, **EVENTS, **_typed("features")}
MODE_COLUMNS = {**FEATURE_COLUMNS, **LONG_COLUMNS}
# Columns that may be shown as evidence: texts, and numbers of events.
EVIDENCE = {**TEXTS, **EVENTS, **LONG_COLUMNS}
FUNCTIONS = frozenset(LISTED["functions"]["allowed"].split())
SLOW_FUNCTIONS = frozenset(LISTED["functions"]["slow"].split())
# Values of these types depend on the time zone of the machine.
ZONED_TYPES = frozenset(
    ("timestamptz", "timetz", "timestamp with time zone", "time with time zone")
)
