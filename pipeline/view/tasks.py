"""Runs and tasks as a matrix, and one task across runs and repeats."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from ..files import stamp
from .home import answer
from .opened import Opened, Page, Row, paged, rows_of
from .prose import csv_text, question

PAGE = 50
MOST_RUNS = 12
MOST_ATTEMPTS = 200
# The column of the question, among those of runs, whose names have no slash.
QUESTION_COLUMN = "/asked"
# Parameters of an address that filter and order tasks.
FILTERS = ("run", "bucket", "cause", "mode", "sign", "slice", "q", "sort", "by", "columns")


def matrix(opened: Opened, query: Mapping[str, str]) -> Page:
    """The answer of a benchmark, and a page of the tasks that match the address, by run."""
    benchmark, benchmarks = opened.benchmark(query)
    options, runs, modes = opened.cached(
        ("options", benchmark),
        lambda: (
            opened.rows("options", benchmark=benchmark)[0],
            opened.rows("runs", benchmark=benchmark),
            opened.rows("listed_modes", benchmark=benchmark),
        ),
    )
    matching = _matching(opened, benchmark, query)
    n_rows = rows_of(query, PAGE)
    page, n_pages = paged(len(matching), n_rows, query.get("page"))
    page_rows = matching.slice((page - 1) * n_rows, n_rows).to_pylist()
    runs_page, _ = paged(len(runs), MOST_RUNS, query.get("runs"))
    shown = runs[(runs_page - 1) * MOST_RUNS : runs_page * MOST_RUNS]
    columns = _columns(query)
    ids = [
        row["run_id"]
        for row in (runs if columns else shown)
        if not columns or row["run_id"] in columns
    ]
    cells = _cells(opened, benchmark, [row["task_id"] for row in page_rows], ids)
    records = [row["prompt_record"] for row in page_rows]
    prompts = {row["record_id"]: row["prompt"] for row in opened.rows("prompts", records=records)}
    tasks = [
        {
            "task_id": row["task_id"],
            "cells": [cells.get((row["task_id"], run_id)) for run_id in ids],
            "prompt": prompts.get(row["prompt_record"]),
        }
        for row in page_rows
    ]
    return {
        "benchmarks": benchmarks,
        "benchmark": benchmark,
        "answer": answer(opened, benchmark),
        "asked": _filters(query),
        "options": options,
        "modes": modes,
        "runs": shown,
        "columns": ids,
        "has_question": not columns or QUESTION_COLUMN in columns,
        "n_runs": len(runs),
        "runs_page": runs_page,
        "tasks": tasks,
        "n_tasks": len(matching),
        "page": page,
        "n_pages": n_pages,
    }


def table(opened: Opened, query: Mapping[str, str]) -> str:
    """All tasks that match the address as CSV: one row per task and run that is shown."""
    benchmark = query.get("benchmark", "")
    names = _matching(opened, benchmark, query)["task_id"].to_pylist()
    chosen = [name for name in _columns(query) if name != QUESTION_COLUMN]
    cells = _cells(opened, benchmark, names, chosen)
    runs = sorted({run_id for _, run_id in cells})
    columns = ("bucket", "n_passed", "n_scored", "mean_reward", "cause")
    rows = (
        [task_id, run_id, *(cells[task_id, run_id][column] for column in columns)]
        for task_id in names
        for run_id in runs
        if (task_id, run_id) in cells
    )
    return csv_text(("task_id", "run_id", *columns), rows)


def _columns(query: Mapping[str, str]) -> list[str]:
    """The columns that the address names: runs, and the question; none for the first ones."""
    return [name for name in query.get("columns", "").split("\n") if name]


def _filters(query: Mapping[str, str]) -> dict[str, str]:
    return {name: query.get(name, "").strip() for name in FILTERS}


def _matching(opened: Opened, benchmark: str, query: Mapping[str, str]) -> pa.Table:
    """The tasks that match the address, in its order."""
    filters = _filters(query)
    key, _, value = filters["slice"].partition("=")
    conditions = {
        name: filters[name] for name in ("run", "bucket", "cause", "mode", "sign", "sort")
    }
    conditions |= {"q": filters["q"].lower(), "slice_key": key, "slice_value": value}
    conditions["sort_run"] = filters["by"]
    return opened.cached(
        ("tasks", benchmark, stamp(opened.labels.path), *conditions.values()),
        lambda: opened.table(
            "tasks",
            benchmark=benchmark,
            labels=opened.labels.causes(),
            **conditions,
        ),
    )


def _cells(
    opened: Opened, benchmark: str, tasks: list[str], runs: list[str]
) -> dict[tuple[str, str], Row]:
    """The outcome of each task in each run, or in all runs if none is named."""
    outcomes = opened.rows(
        "cells",
        benchmark=benchmark,
        tasks=tasks,
        runs=runs,
        labels=opened.labels.causes(),
    )
    return {(row["task_id"], row["run_id"]): row for row in outcomes}


def task(opened: Opened, query: Mapping[str, str]) -> Page:
    benchmark = query.get("benchmark", "")
    task_id = query.get("task", "")
    key = {"benchmark": benchmark, "task": task_id}
    row = opened.one("task", f"task {task_id} of {benchmark}", **key)
    runs = opened.rows(
        "cells", benchmark=benchmark, tasks=[task_id], runs=[], labels=opened.labels.causes()
    )
    attempts = opened.rows("attempts", **key, most=MOST_ATTEMPTS)
    for run in runs:
        run["attempts"] = [each for each in attempts if each["run_id"] == run["run_id"]]
        run["labels"] = opened.labels.of(run["run_id"], task_id)
    is_cut = len(attempts) == MOST_ATTEMPTS
    return {
        "benchmark": benchmark,
        "task": row,
        "asked_as": question(row["prompt"]),
        "runs": runs,
        "is_cut": is_cut,
    }
