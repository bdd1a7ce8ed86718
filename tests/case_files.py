"""Tables of cases in files: `tests/cases/<name>.toml`, or .yaml where rows share parts."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

import yaml

FOLDER = Path(__file__).parent / "cases"
# The same in C, where it was built.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache
def _file(name: str) -> dict[str, Any]:
    path = FOLDER / f"{name}.yaml"
    if path.exists():
        actual: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), LOADER)
        return actual
    return tomllib.loads(path.with_suffix(".toml").read_text(encoding="utf-8"))


def cases(name: str, table: str) -> Any:
    """One table of a file."""
    return _file(name)[table]


def filled(name: str, table: str, /, **inputs: Any) -> Any:
    """A table in which each value replaces its $name, as a whole value or within a text."""
    return _filled(cases(name, table), inputs)


def _filled(value: Any, inputs: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(each, inputs) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled(each, inputs) for each in value]
    if not isinstance(value, str):
        return value
    if value[:1] == "$" and value[1:] in inputs:
        return inputs[value[1:]]
    return Template(value).safe_substitute(inputs)
