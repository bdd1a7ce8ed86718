"""labels.jsonl: a line that an analysis would accept, and adding it to the file."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import files
from ..errors import InputError, UsageError
from ..ingest.formats.labels import read
from ..text import json_text, one_line

if TYPE_CHECKING:
    from ..warehouse import Warehouse

NAME = "labels.jsonl"
QUERIES = files.read_queries("answers/label_file")
# Columns of labels under the names that a line has for them.
FIELDS = {"run_id": "run", "task_id": "task", "rollout_index": "rollout", "said_by": "by"}


def line(warehouse: Warehouse, fields: Mapping[str, Any]) -> str:
    """The line of these fields; an error with the reason if an analysis would reject it."""
    text = _filled(fields)
    try:
        label = read(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"The label is refused: {error}.") from error
    if label.renamed is not None:
        return text
    _refuse_absent(warehouse, label.run_id, label.task_id, label.rollout_index)
    for cited in label.evidence:
        _refuse_absent(warehouse, *cited.rollout, cited.seq, evidence=str(cited))
    return text


def add(path: Path, warehouse: Warehouse, fields: Mapping[str, Any]) -> str:
    """Add the line of these fields; a new file begins with the labels that the analysis read."""
    text = line(warehouse, fields)
    append(path, text, first=lambda: of_the_analysis(warehouse))
    return text


def _refuse_absent(
    warehouse: Warehouse,
    run_id: str,
    task_id: str,
    index: int | None,
    seq: int | None = None,
    *,
    evidence: str = "",
) -> None:
    (existing,) = warehouse.rows(QUERIES["exists"], run_id, task_id, index, seq)
    if all(existing.values()):
        return
    if evidence:
        raise UsageError(f"evidence {one_line(evidence)}: no such rollout or event.")
    name = f"{run_id}/{task_id}" + ("" if index is None else f":{index}")
    hint = "It may have been replaced by another analysis."
    raise UsageError(f"{one_line(name)}: not in this warehouse.", hint=hint)


def append(path: Path, text: str, *, first: Callable[[], Iterable[str]]) -> None:
    """Add a line; readers see the old or the new file. `first` gives the lines of a new one."""
    try:
        if path.is_symlink():
            message = f"{path}: is a link, and labels are not written through links."
            raise UsageError(message, hint=f"Name the file: --labels {path.resolve()}")
        lock = _locked(path)
        try:
            old = path.read_bytes()
            if not old:
                old = "".join(f"{each}\n" for each in first()).encode()
            elif not old.endswith(b"\n"):
                old += b"\n"
            with files.replacement(path) as beside:
                beside.write_bytes(old + f"{text}\n".encode())
                files.sync([beside])
        finally:
            os.close(lock)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written ({files.reason_of(error)}).",
            hint="Choose another file with: --labels FILE",
        ) from error


def _locked(path: Path) -> int:
    """Open and lock the file, again if it was replaced in between."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        fcntl.flock(file, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            if os.fstat(file).st_ino == path.stat().st_ino:
                return file
        os.close(file)


def of_the_analysis(warehouse: Warehouse) -> list[str]:
    """The labels that the analysis read, as lines for a new file."""
    rows = warehouse.rows(QUERIES["labels"])
    return [_filled({FIELDS.get(name, name): row[name] for name in row}) for row in rows]


def _filled(fields: Mapping[str, Any]) -> str:
    """A label without its empty fields, as a line."""
    return json_text({name: each for name, each in fields.items() if each not in (None, "", [])})
