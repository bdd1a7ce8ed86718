"""Tables of cases in files: `tests/cases/<name>.toml`, or .yaml where rows share parts."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent / "cases"


@cache
def _file(name: str) -> dict[str, Any]:
    path = FOLDER / f"{name}.yaml"
    if path.exists():
        found: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
        return found
    return tomllib.loads(path.with_suffix(".toml").read_text(encoding="utf-8"))


def cases(name: str, table: str) -> Any:
    """One table of a file."""
    return _file(name)[table]
