"""[[failure_mode]]: the rules that name how rollouts fail, built in and from a profile."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from pipeline.profile.contract import CONTRACT
from pipeline.profile.features import FEATURE_COLUMNS, is_evidence
from pipeline.profile.values import CAUSES, INTERVENTIONS, FailureMode
from pipeline.toml import Entry, Reader, choice, integer, read_source, shown, table, tables, text

BUILT_IN = Path(__file__).with_name("failure_modes.toml")
DEFAULT_SEVERITY = 50
WORST = 100
UNEXPLAINED = "UNEXPLAINED"
EXAMPLE = 'mode = "WRONG_CURRENCY"'
# A mode is a key of tables, files and pages.
PLAIN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,59}")


@cache
def built_in() -> tuple[FailureMode, ...]:
    """The modes of every benchmark, written as a profile would write them."""
    source = read_source(BUILT_IN, BUILT_IN.name, CONTRACT)
    return failure_modes(Entry(source, ("failure_mode",), source.document["failure_mode"]))


def failure_modes(entry: Entry) -> tuple[FailureMode, ...]:
    """The modes in the order of the file, each once."""
    found: dict[str, FailureMode] = {}
    for each in tables(entry, "failure mode"):
        mode = _failure_mode(each)
        if mode.mode in found:
            place = Entry(entry.source, (*each.key, "mode"), mode.mode)
            raise place.error(f"failure_mode names {shown(mode.mode)} twice.")
        found[mode.mode] = mode
    return tuple(found.values())


def _failure_mode(entry: Entry) -> FailureMode:
    attributes = table(entry, READERS)
    for name, example in (("mode", EXAMPLE), ("when", 'when = "n_tool_errors > 3"')):
        if name not in attributes:
            raise entry.error(f"this failure mode has no {name}.", hint=f"Add: {example}")
    place = Entry(entry.source, (*entry.key, "when"), None)
    defaults = {
        "title": str(attributes["mode"]).replace("_", " ").lower(),
        "cause": UNEXPLAINED,
        "severity": DEFAULT_SEVERITY,
        "intervention": None,
        "evidence": None,
        "is_words": False,
    }
    return FailureMode(**{**defaults, **attributes}, line=place.line)


def _mode(entry: Entry) -> dict[str, Any]:
    name = text(entry, "a name", example=EXAMPLE)
    if not PLAIN_NAME.fullmatch(name):
        expected = "a letter, then up to 59 letters, digits, _ or -"
        raise entry.wrong(expected, example=EXAMPLE)
    if name.upper() == UNEXPLAINED:
        raise entry.error(f"{UNEXPLAINED} is what no rule explains.", hint="Choose another name.")
    return {"mode": name}


def _title(entry: Entry) -> dict[str, Any]:
    return {"title": text(entry, "a few words", example='title = "paid in the wrong currency"')}


def _when(entry: Entry) -> dict[str, Any]:
    return {"when": text(entry, "a SQL predicate", example='when = "n_tool_errors > 3"')}


def _severity(entry: Entry) -> dict[str, Any]:
    expected = f"an integer from 1 to {WORST}"
    return {"severity": integer(entry, WORST, expected, example="severity = 50")}


def _evidence(entry: Entry) -> dict[str, Any]:
    if not isinstance(entry.value, str) or not is_evidence(entry.value):
        shows = ", ".join(name for name in FEATURE_COLUMNS if is_evidence(name))
        told = f"{entry.label} is {shown(entry.value)}, which shows no event and no text."
        raise entry.error(told, hint=f"Columns that do: {shows}.")
    return {"evidence": entry.value}


READERS: dict[str, Reader] = {
    "mode": _mode,
    "title": _title,
    "when": _when,
    "cause": lambda entry: {"cause": choice(entry, (*CAUSES, UNEXPLAINED))},
    "severity": _severity,
    "intervention": lambda entry: {"intervention": choice(entry, INTERVENTIONS)},
    "evidence": _evidence,
    "signal": lambda entry: {"is_words": choice(entry, ("field", "words")) == "words"},
}
