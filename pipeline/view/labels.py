"""labels.jsonl: read for display, and extended by the forms of the pages."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import files
from ..errors import InputError, UsageError
from ..report import wording
from ..text import json_text, one_line
from .opened import AbsentError, Opened, Row, Stamp, stamp

if TYPE_CHECKING:
    from ..answers.rerender import Label

NAME = "labels.jsonl"
CAUSES = {**wording.CAUSES, "UNEXPLAINED": "unexplained"}


class LabelFile:
    """A file of labels, cached until it changes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read: tuple[Stamp | None, list[Row]] = (None, [])

    def rows(self) -> list[Row]:
        """The last label of each task, in the order of the file."""
        now = stamp(self.path)
        if now != self._read[0]:
            self._read = (now, _read(self.path))
        return self._read[1]

    def of(self, run_id: str, task_id: str) -> Row | None:
        """The label of one task."""
        key = (run_id, task_id)
        return next((row for row in self.rows() if (row["run_id"], row["task_id"]) == key), None)

    def causes(self) -> list[Row]:
        """The cause of each labelled task, as a parameter of a query."""
        names = ("run_id", "task_id", "cause")
        return [{name: row[name] for name in names} for row in self.rows()]

    def append(self, line: str, *, first: Callable[[], Iterable[str]]) -> None:
        """Add a line; readers see the old or the new file. `first` gives the lines of a new one."""
        try:
            path = self.path
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
                    beside.write_bytes(old + f"{line}\n".encode())
                    files.sync([beside])
            finally:
                os.close(lock)
        except OSError as error:
            raise InputError(
                f"{self.path}: cannot be written ({files.reason_of(error)}).",
                hint="Choose another file with: blade view --labels FILE",
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


def _read(path: Path) -> list[Row]:
    from ..answers.rerender import read_label

    try:
        lines = files.content(path).decode(errors="replace").splitlines()
    except files.UnreadableError:
        return []
    labels: dict[tuple[str, str], Row] = {}
    for line_no, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            label = read_label(line)
        except (ValueError, RecursionError):
            continue  # a reject of the next analysis
        labels.pop((label.run_id, label.task_id), None)
        labels[label.run_id, label.task_id] = {**_row(label), "line_no": line_no}
    return list(labels.values())


def _row(label: Label) -> Row:
    return {**vars(label), "evidence": [str(each) for each in label.evidence]}


def line(opened: Opened, form: Mapping[str, str]) -> str:
    """The line of a form; an error with the reason if an analysis would reject it."""
    from ..answers.rerender import read_label

    cause = "+".join(each for each in (form.get("cause", ""), form.get("second", "")) if each)
    row: dict[str, Any] = {
        "run": form.get("run", ""),
        "task": form.get("task", ""),
        "cause": cause,
        "intervention": form.get("intervention") or None,
        "note": form.get("note", "").replace("\r\n", "\n").strip() or None,
        "by": form.get("by", "").strip() or None,
        "evidence": list(dict.fromkeys(form.get("evidence", "").split("\n"))),
    }
    row["evidence"] = [each.strip() for each in row["evidence"] if each.strip()]
    text = json_text({name: value for name, value in row.items() if value})
    try:
        label = read_label(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"The label is refused: {error}.") from error
    name = f"{label.run_id}/{label.task_id}"
    opened.one("outcome", name, run=label.run_id, task=label.task_id)
    for cited in label.evidence:
        run, task, index = cited.rollout
        (existing,) = opened.rows("exists", run=run, task=task, index=index, seq=cited.seq)
        if not all(existing.values()):
            raise AbsentError(f"evidence {one_line(str(cited))}: no such rollout or event.")
    return text


def of_the_analysis(opened: Opened) -> list[str]:
    """The labels that the analysis read, as lines for a new file."""
    names = {"run_id": "run", "task_id": "task", "said_by": "by"}
    return [
        json_text({names.get(name, name): value for name, value in row.items() if value})
        for row in opened.rows("labels")
    ]
