"""The attempts at a benchmark that show a mode, a sign or some words; how many of them pass."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from .opened import AbsentError, Opened, Page, page_no
from .prose import csv_text

PAGE = 50
FILTERS = ("run", "verdict", "mode", "sign", "health", "q")
VERDICTS = ("passed", "failed", "unscored")


def listed(opened: Opened, query: Mapping[str, str]) -> Page:
    """A page of the attempts that match the address, and counts over all of them."""
    benchmarks = opened.cached("benchmarks", lambda: opened.rows("benchmarks"))
    known = [row["benchmark"] for row in benchmarks]
    benchmark = query.get("benchmark") or next(iter(known), "")
    if benchmark not in known:
        raise AbsentError(f"{benchmark}: no such benchmark.", hint="The first page lists them.")
    options = opened.cached(
        ("rollout options", benchmark), lambda: opened.rows("options", benchmark=benchmark)[0]
    )
    matching = _matching(opened, benchmark, query)
    n_pages = max(1, -(-len(matching) // PAGE))
    page = min(page_no(query.get("page")), n_pages)
    verdicts = matching["is_pass"]
    return {
        "benchmarks": benchmarks,
        "benchmark": benchmark,
        "asked": _filters(query),
        "options": {**options, "verdict": list(VERDICTS)},
        "rollouts": matching.slice((page - 1) * PAGE, PAGE).to_pylist(),
        "n_rollouts": len(matching),
        "n_passed": pc.sum(verdicts).as_py() or 0,
        "n_failed": pc.sum(pc.invert(verdicts)).as_py() or 0,
        "n_tasks": len(pc.unique(matching["task_id"])),
        "n_hits": pc.sum(matching["n_hits"]).as_py() or 0,
        "page": page,
        "n_pages": n_pages,
    }


def table(opened: Opened, query: Mapping[str, str]) -> str:
    """All attempts that match the address as CSV."""
    matching = _matching(opened, query.get("benchmark", ""), query)
    rows = zip(*(column.to_pylist() for column in matching.columns), strict=True)
    return csv_text(matching.column_names, rows)


def _filters(query: Mapping[str, str]) -> dict[str, str]:
    return {name: query.get(name, "").strip() for name in FILTERS}


def _matching(opened: Opened, benchmark: str, query: Mapping[str, str]) -> pa.Table:
    filters = _filters(query)
    filters["q"] = filters["q"].lower()
    return opened.cached(
        ("rollouts", benchmark, *filters.values()),
        lambda: opened.table("rollouts", benchmark=benchmark, **filters),
    )
