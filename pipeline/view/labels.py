"""labels.jsonl: read for display, and extended by the forms of the pages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import files
from ..report import wording
from .opened import Row

CAUSES = {**wording.CAUSES, "UNEXPLAINED": "unexplained"}


class LabelFile:
    """A file of labels, cached until it changes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read: tuple[tuple[int, ...] | None, list[Row]] = (None, [])

    def rows(self) -> list[Row]:
        """The last label of each task, and of each rollout by each reader, in file order."""
        now = files.stamp(self.path)
        if now != self._read[0]:
            self._read = (now, _read(self.path))
        return self._read[1]

    def of(self, run_id: str, task_id: str, index: int | None = None) -> list[Row]:
        """The label of a task, or of the rollout of that index by each reader."""
        key = (run_id, task_id, index)
        names = ("run_id", "task_id", "rollout_index")
        return [row for row in self.rows() if tuple(row[name] for name in names) == key]

    def causes(self) -> list[Row]:
        """The cause of each labelled task, as a parameter of a query."""
        names = ("run_id", "task_id", "cause")
        return [
            {name: row[name] for name in names}
            for row in self.rows()
            if row["rollout_index"] is None
        ]


def _read(path: Path) -> list[Row]:
    from ..answers.rerender import read_label

    try:
        lines = files.content(path).decode(errors="replace").splitlines()
    except files.UnreadableError:
        return []
    labels: dict[tuple[Any, ...], Row] = {}
    renames: list[tuple[str, str | None]] = []
    for line_no, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            label = read_label(line)
        except (ValueError, RecursionError):
            continue  # a reject of the next analysis
        if label.renamed is not None:
            renames.append((label.renamed, label.mode))
            continue
        reader = None if label.is_of_task else label.said_by
        key = (label.run_id, label.task_id, label.rollout_index, reader)
        labels.pop(key, None)
        labels[key] = {
            **vars(label),
            "evidence": [str(each) for each in label.evidence],
            "line_no": line_no,
            "source_file": path.name,
        }
    for old, new in renames:
        for row in labels.values():
            row["mode"] = new if row["mode"] == old else row["mode"]
    return list(labels.values())


def fields(form: Mapping[str, str]) -> Row:
    """The fields of a label from those of a form."""
    evidence = dict.fromkeys(each.strip() for each in form.get("evidence", "").split("\n"))
    index = form.get("rollout", "").strip()
    return {
        "run": form.get("run", ""),
        "task": form.get("task", ""),
        "rollout": int(index) if index.isdecimal() else index,
        "mode": form.get("mode", "").strip(),
        "cause": "+".join(each for each in (form.get("cause"), form.get("second")) if each),
        "intervention": form.get("intervention"),
        "note": form.get("note", "").replace("\r\n", "\n").strip(),
        "by": form.get("by", "").strip(),
        "evidence": [each for each in evidence if each],
    }
