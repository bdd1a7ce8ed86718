"""The bucket that a table gives a task: always, sometimes or never passed, or missing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.package.verify.citations import named_tasks
from pipeline.package.verify.data import Relations
from pipeline.package.verify.finding import CONTRADICTED, VERIFIED, Finding
from pipeline.package.verify.passages import Passage
from pipeline.package.verify.scope import Scope

CHECK = "bucket"
BUCKET = re.compile(r"\W*(?P<bucket>always|sometimes|never|missing)(?:[- ]pass)?\W*", re.IGNORECASE)


def check(found: list[Passage], data: Relations, scope: Scope, file: str) -> Iterator[Finding]:
    """Every row about one task with a column of buckets."""
    told = [
        (passage, match["bucket"].lower(), task)
        for passage in found
        if passage.is_row
        for piece in passage.pieces
        if piece.head.strip().lower() == "bucket"
        for match in [BUCKET.fullmatch(piece.text)]
        for task in [_task(passage)]
        if match is not None and task is not None
    ]
    if not told or "bucket" not in data.columns.get("task_outcomes", {}):
        return
    asked = sorted({(task,) for *_, task in told})
    rows = data.looked_up("task_outcomes", ("task_id",), asked, ("run_id", "bucket"))
    for passage, bucket, task in told:
        runs = scope.runs_of(passage)
        known = {row["bucket"] for row in rows.get((task,), []) if row["run_id"] in runs}
        if known:
            status = VERIFIED if bucket in known else CONTRADICTED
            claim, expected = f"task {task}: {bucket}", ", ".join(sorted(known))
            yield Finding(passage.line, status, claim, expected, "task_outcomes", CHECK, file)


def _task(passage: Passage) -> str | None:
    """The task that the first cell names, where it names one."""
    named = {task for _, task in named_tasks(passage, passage.pieces[0])}
    return next(iter(named)) if len(named) == 1 else None
