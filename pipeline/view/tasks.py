"""Runs and tasks as a matrix, and one task across runs and repeats."""

from __future__ import annotations

from collections.abc import Mapping

from .labels import LabelFile
from .opened import AbsentError, Opened, Page, page_no, stamp

PAGE = 50
MOST_RUNS = 12
MOST_ATTEMPTS = 200
# Parameters of an address that filter and order tasks.
FILTERS = ("run", "bucket", "cause", "mode", "sign", "slice", "q", "sort")


def matrix(labels: LabelFile, opened: Opened, query: Mapping[str, str]) -> Page:
    """A page of the tasks that match the address, with one column per run."""
    benchmarks = opened.cached("benchmarks", lambda: opened.rows("benchmarks"))
    known = [row["benchmark"] for row in benchmarks]
    benchmark = query.get("benchmark") or next(iter(known), "")
    if known and benchmark not in known:
        raise AbsentError(f"{benchmark}: no such benchmark.", hint="The first page lists them.")
    options, runs, modes = opened.cached(
        ("options", benchmark),
        lambda: (
            opened.rows("options", benchmark=benchmark)[0],
            opened.rows("runs", benchmark=benchmark),
            opened.rows("listed_modes", benchmark=benchmark),
        ),
    )
    filters = {name: query.get(name, "").strip() for name in FILTERS}
    key, _, value = filters["slice"].partition("=")
    conditions = {
        name: filters[name] for name in ("run", "bucket", "cause", "mode", "sign", "sort")
    }
    conditions |= {"q": filters["q"].lower(), "slice_key": key, "slice_value": value}
    matching = opened.cached(
        ("tasks", benchmark, stamp(labels.path), *conditions.values()),
        lambda: opened.table(
            "tasks",
            benchmark=benchmark,
            labels=labels.causes(),
            **conditions,
        ),
    )
    n_tasks = len(matching)
    n_pages = -(-n_tasks // PAGE)
    page = min(page_no(query.get("page")), max(1, n_pages))
    page_rows = matching.slice((page - 1) * PAGE, PAGE).to_pylist()
    runs_page = min(page_no(query.get("runs")), max(1, -(-len(runs) // MOST_RUNS)))
    shown = runs[(runs_page - 1) * MOST_RUNS : runs_page * MOST_RUNS]
    names = [row["task_id"] for row in page_rows]
    ids = [row["run_id"] for row in shown]
    outcomes = opened.rows(
        "cells",
        benchmark=benchmark,
        tasks=names,
        runs=ids,
        labels=labels.causes(),
    )
    cells = {(row["task_id"], row["run_id"]): row for row in outcomes}
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
        "asked": filters,
        "options": options,
        "modes": modes,
        "runs": shown,
        "n_runs": len(runs),
        "runs_page": runs_page,
        "tasks": tasks,
        "n_tasks": n_tasks,
        "page": page,
        "n_pages": n_pages,
    }


def task(labels: LabelFile, opened: Opened, query: Mapping[str, str]) -> Page:
    """One task: its outcome and attempts in each run."""
    benchmark = query.get("benchmark", "")
    task_id = query.get("task", "")
    key = {"benchmark": benchmark, "task": task_id}
    row = opened.one("task", f"task {task_id} of {benchmark}", **key)
    runs = opened.rows(
        "cells", benchmark=benchmark, tasks=[task_id], runs=[], labels=labels.causes()
    )
    attempts = opened.rows("attempts", **key, most=MOST_ATTEMPTS)
    for run in runs:
        run["attempts"] = [each for each in attempts if each["run_id"] == run["run_id"]]
        run["label"] = labels.of(run["run_id"], task_id)
    is_cut = len(attempts) == MOST_ATTEMPTS
    return {"benchmark": benchmark, "task": row, "runs": runs, "is_cut": is_cut}
