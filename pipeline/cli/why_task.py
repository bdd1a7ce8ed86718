"""The task that RUN/TASK names, or RUN/TASK:ROLLOUT, and what there is where it names none."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.citation import parse
from pipeline.cli.lookup import Row, known_run, listed, rows
from pipeline.errors import UsageError
from pipeline.text import one_line
from pipeline.warehouse import Warehouse

SHAPE = "RUN/TASK"
LONGEST = 200


@dataclass(frozen=True)
class Asked:
    """A task of a run, and the attempt of it that was cited, if one was."""

    run_id: str
    benchmark: str
    task_id: str
    rollout_index: int | None

    def cited(self, rollout_index: int, seq: int | None = None) -> str:
        """The citation of an attempt, or of an event of it."""
        event = "" if seq is None else f"#{seq}"
        return f"{self.run_id}/{self.task_id}:{rollout_index}{event}"


def find(warehouse: Warehouse, text: str) -> Asked:
    """Task ids may hold slashes and colons: a task of that name goes before a citation."""
    run_id, slash, task_id = text.partition("/")
    if not (run_id and slash and task_id):
        raise UsageError(f"{one_line(text, LONGEST)} is not {SHAPE}.", hint=_example(warehouse))
    run = known_run(warehouse, run_id)
    if _is_task(warehouse, run, task_id):
        return Asked(run_id, run["benchmark"], task_id, None)
    citation = parse(text)
    if citation is None or not _is_task(warehouse, run, citation.task_id):
        raise UsageError(
            f"{one_line(text, LONGEST)}: no such task in this run.", hint=_tasks(warehouse, run_id)
        )
    asked = Asked(run_id, run["benchmark"], citation.task_id, citation.rollout_index)
    _hold_attempt(warehouse, asked)
    return asked


def _is_task(warehouse: Warehouse, run: Row, task_id: str) -> bool:
    """Of the run, or of its benchmark: that a run lacks a task is a story too."""
    found = rows(
        warehouse,
        """
        select 1 from task_outcomes where run_id = ? and task_id = ?
        union all
        select 1 from tasks where benchmark = ? and task_id = ?
        """,
        *(run["run_id"], task_id, run["benchmark"], task_id),
    )
    return bool(found)


def _hold_attempt(warehouse: Warehouse, asked: Asked) -> None:
    query = """
        select rollout_index from rollout_features where run_id = ? and task_id = ? order by all
    """
    found = [row["rollout_index"] for row in rows(warehouse, query, asked.run_id, asked.task_id)]
    if asked.rollout_index not in found:
        there = (
            f"There are these repeats of this task: {listed(found)}" if found else "It has none."
        )
        cited = one_line(asked.cited(asked.rollout_index or 0), LONGEST)
        raise UsageError(f"{cited}: no such attempt.", hint=there)


def _tasks(warehouse: Warehouse, run_id: str) -> str:
    query = "select task_id from task_outcomes where run_id = ? order by all"
    found = [row["task_id"] for row in rows(warehouse, query, run_id)]
    return f"Tasks of the run: {listed(found)}" if found else "The run has no tasks."


def _example(warehouse: Warehouse) -> str:
    """A task that is worth asking about, of this warehouse."""
    query = """
        select run_id || '/' || task_id as task from task_outcomes
        order by bucket in ('sometimes', 'never') desc nulls last, run_id, task_id limit 1
    """
    found = rows(warehouse, query)
    return f"For example: blade why {one_line(found[0]['task'], LONGEST)}" if found else ""
