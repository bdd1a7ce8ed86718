"""The attempts of a run one by one, and names and files for exports."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..files import read_queries
from ..text import json_text
from ..warehouse import Warehouse

Row = dict[str, Any]
# Writers yield the name of each file and its number of rows.
Written = Iterator[tuple[str, int]]
Note = Callable[[str], None]

QUERIES = read_queries("export/attempts")
AT_ONCE = 50
RUNS = "select run_id from runs order by run_id"


def attempts(warehouse: Warehouse, run_id: str) -> Iterator[Row]:
    result = warehouse.execute(QUERIES["attempts"], [run_id])
    names = [column[0] for column in result.description or []]
    while rows := result.fetchmany(AT_ONCE):
        yield from (dict(zip(names, values, strict=True)) for values in rows)


def safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:100] or "unknown"


def folder_name(name: str) -> str:
    """A safe name that no other name has: one that was changed gets a mark."""
    mark = "" if safe(name) == name else f"-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return f"{safe(name)}{mark}"


def index(task_id: str) -> int | str:
    """The task as the integer index of Gym, if its name is one."""
    return int(task_id) if re.fullmatch(r"0|[1-9][0-9]{0,17}", task_id) else task_id


def write_json(folder: Path, name: str, *documents: Any, indent: int | None = 2) -> bytes:
    """Write documents as JSON, or as JSON lines without an indent."""
    content = "".join(json_text(each, indent=indent) + "\n" for each in documents).encode()
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    return content
