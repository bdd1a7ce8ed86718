"""The attempts at a benchmark that show a mode, a sign or some words; how many of them pass."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from .opened import Opened, Page, paged, rows_of
from .prose import csv_text

PAGE = 50
FILTERS = ("run", "verdict", "mode", "sign", "health", "q")
VERDICTS = ("passed", "failed", "unscored")
KEY = ("run_id", "task_id", "rollout_index")
# What a row may show besides its rollout, in order; n_hits only where words are searched.
COLUMNS = {
    "verdict": "verdict",
    "reward": "reward",
    "n_turns": "turns",
    "n_tool_calls": "calls",
    "n_tool_errors": "errors",
    "n_events": "events",
    "input_tokens": "input tokens",
    "output_tokens": "output tokens",
    "duration_s": "seconds",
    "n_checks_failed": "failed checks",
    "finish_reason": "finish reason",
    "n_hits": "events found",
    "mode": "mode",
    "words": "words",
}
FIRST_SHOWN = ("verdict", "reward", "n_turns", "n_tool_calls", "mode", "words")


def listed(opened: Opened, query: Mapping[str, str]) -> Page:
    """A page of the attempts that match the address, and counts over all of them."""
    benchmark, benchmarks = opened.benchmark(query)
    options = opened.cached(
        ("rollout options", benchmark), lambda: opened.rows("options", benchmark=benchmark)[0]
    )
    matching = _matching(opened, benchmark, query)
    n_rows = rows_of(query, PAGE)
    page, n_pages = paged(len(matching), n_rows, query.get("page"))
    verdicts = matching["is_pass"]
    return {
        "benchmarks": benchmarks,
        "benchmark": benchmark,
        "asked": {
            **_filters(query),
            **{name: query.get(name, "") for name in ("sort", "columns")},
        },
        "columns": _shown(query),
        "all_columns": COLUMNS,
        "options": {**options, "verdict": list(VERDICTS)},
        "rollouts": matching.slice((page - 1) * n_rows, n_rows).to_pylist(),
        "n_rollouts": len(matching),
        "n_passed": pc.sum(verdicts).as_py() or 0,
        "n_failed": pc.sum(pc.invert(verdicts)).as_py() or 0,
        "n_tasks": len(pc.unique(matching["task_id"])),
        "n_hits": pc.sum(matching["n_hits"]).as_py() or 0,
        "page": page,
        "n_pages": n_pages,
    }


def table(opened: Opened, query: Mapping[str, str]) -> str:
    """All attempts that match the address as CSV, with the columns that it shows."""
    matching = _matching(opened, query.get("benchmark", ""), query).select([*KEY, *_shown(query)])
    rows = zip(*(column.to_pylist() for column in matching.columns), strict=True)
    return csv_text(matching.column_names, rows)


def _filters(query: Mapping[str, str]) -> dict[str, str]:
    return {name: query.get(name, "").strip() for name in FILTERS}


def _shown(query: Mapping[str, str]) -> list[str]:
    """The columns of an address, else the first ones, in their order."""
    chosen = set(query.get("columns", "").split("\n")) & set(COLUMNS)
    if not chosen:
        chosen = {*FIRST_SHOWN, *(["n_hits"] if query.get("q") else [])}
    return [name for name in COLUMNS if name in chosen]


def _matching(opened: Opened, benchmark: str, query: Mapping[str, str]) -> pa.Table:
    """The attempts that match the address, in its order; what is not recorded comes last."""
    filters = _filters(query)
    filters["q"] = filters["q"].lower()
    matching: pa.Table = opened.cached(
        ("rollouts", benchmark, *filters.values()),
        lambda: opened.table("rollouts", benchmark=benchmark, **filters),
    )
    name = query.get("sort", "").removeprefix("-")
    is_down = query.get("sort", "").startswith("-")
    if name not in COLUMNS:
        return matching.take(range(len(matching) - 1, -1, -1)) if is_down else matching
    keys = [(name, "descending" if is_down else "ascending"), ("place", "ascending")]
    placed = matching.append_column("place", pa.array(range(len(matching))))
    return matching.take(pc.sort_indices(placed, sort_keys=keys))
