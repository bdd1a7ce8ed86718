"""Everything the checks of a report ask for, read from the data once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pipeline.package.verify import phrases, quantities
from pipeline.package.verify.data import Relations
from pipeline.package.verify.evidence import Evidence
from pipeline.package.verify.matching import KINDS, Known
from pipeline.package.verify.scope import Scope


def known(data: Relations, evidence: Evidence, scope: Scope, tasks: Iterable[str]) -> Known:
    """Quantities, phrases and rows, those of tasks only where they are named."""
    rows: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    names: dict[str, frozenset[str]] = {}
    for kind, (relation, column) in KINDS.items():
        if kind == "task":
            continue
        found = data.table(relation)
        names[kind] = frozenset(str(row[column]) for row in found)
        for row in found:
            rows.setdefault((kind, str(row[column])), []).append(row)
    # Of several runs together a mode has one count more.
    if len(scope.subjects) > 1:
        for row in data.table("report.mode_totals"):
            rows.setdefault(("mode", str(row["mode"])), []).append({**row, "run_id": None})
    named = sorted({task for task in tasks if task in evidence.task_ids})
    names["task"] = evidence.task_ids
    for task, each in _task_rows(data, named):
        rows.setdefault(("task", task), []).append(each)
    names["run"] |= frozenset(evidence.models.values())
    for run, model in evidence.models.items():
        rows.setdefault(("run", model), []).extend(rows.get(("run", run), []))
    return Known(
        evidence=evidence,
        scope=scope,
        quantities=quantities.of_data(data),
        of_tasks=quantities.of_tasks(data, named),
        phrases=phrases.of_data(data),
        rows=rows,
        kinds=names,
    )


def _task_rows(data: Relations, tasks: list[str]) -> Iterable[tuple[str, Mapping[str, Any]]]:
    if "task_outcomes" not in data.columns:
        return
    columns = ("run_id", "n_scored", "n_passed", "pass_rate", "max_reward")
    found = data.looked_up("task_outcomes", ("task_id",), [(task,) for task in tasks], columns)
    for (task,), rows in found.items():
        for row in rows:
            # Of a task without scores neither is known.
            is_known = row["n_scored"] is not None and row["n_passed"] is not None
            n_failed = row["n_scored"] - row["n_passed"] if is_known else None
            yield task, {**row, "n_failed": n_failed}
