"""A suite of benchmarks: entrants, cells, standings, changes, and what must be known of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from ..errors import UsageError, resolved
from ..files import read_queries
from ..profile import Suite, read_suite
from ..warehouse import Warehouse, open_warehouse
from . import recomputed
from .names import Row, grouped

QUERIES = read_queries("answers/suites")
RELATIONS = tuple(
    f"main.suite_{name}" for name in ("cells", "standings", "comparisons", "notes", "modes")
)
# They depend on the baseline too, but not for a suite.
UNCHANGED = ("staging.run_pairs", "staging.series_runs")
NO_SUITE = (
    "Compare runs of one benchmark with blade compare; analyze several benchmarks together, "
    "or name entrants in a suite.toml."
)


class NoSuiteError(UsageError):
    """The analysis has one benchmark, or nothing that is scored."""


@contextmanager
def opened(path: Path, suite: Path | None, names: Sequence[str]) -> Iterator[Warehouse]:
    """A warehouse with the suite of the analysis, or that of a file; the first name is the base."""
    replaced = {} if suite is None else _tables(read_suite(suite))
    with _recomputed(path, replaced) as warehouse:
        if not warehouse.rows("from suite_cells limit 1"):
            reasons = warehouse.column(
                "select message from suite_notes where kind = 'many entrants'"
            )
            message = "; ".join(reasons) or "one benchmark, or no scored run"
            raise NoSuiteError(f"there is no suite: {message}.", hint=NO_SUITE)
        if not names:
            yield warehouse
            return
        query = "select distinct unnest(run_ids) as run_id from suite_cells where entrant = ?"
        base = entrant_named(warehouse, names[0])
        runs = warehouse.column(f"{query} order by all", base)
    replaced["raw.baselines"] = pa.table({"run_id": runs})
    with _recomputed(path, replaced) as warehouse:
        yield warehouse


def entrant_named(warehouse: Warehouse, name: str) -> str:
    """The entrant of a name or a part of it."""
    known = warehouse.column("select distinct entrant from suite_cells order by all")
    return resolved("entrant", name, known)


def _tables(suite: Suite) -> dict[str, pa.Table]:
    places, entrants, patterns = zip(*suite.patterns, strict=True) if suite.entrants else ((),) * 3
    return {
        "raw.suite_entrants": pa.table(
            {
                "place": pa.array(places, pa.int64()),
                "entrant": pa.array(entrants, pa.string()),
                "pattern": pa.array(patterns, pa.string()),
            }
        ),
        "raw.suite_benchmarks": pa.table({"benchmark": pa.array(suite.benchmarks, pa.string())}),
    }


def _recomputed(path: Path, replaced: dict[str, pa.Table]) -> Warehouse:
    if not replaced:
        return open_warehouse(path)
    return recomputed.recompute(path, replaced, unchanged=UNCHANGED, wanted=RELATIONS)


def answer(warehouse: Warehouse, names: Sequence[str] = ()) -> Row:
    """What `blade suite --json` prints; only changes to the named candidates, if there are any."""
    cells = warehouse.rows(QUERIES["cells"])
    by_entrant = grouped(cells, "entrant")
    ranks = {
        (row["entrant"], row["benchmark"]): [row["rank_low"], row["rank_high"]]
        for row in warehouse.rows(QUERIES["ranks"])
    }
    entrants = []
    for row in warehouse.rows(QUERIES["standings"]):
        own = {
            cell["benchmark"]: {**cell, "ranks": ranks.get((row["entrant"], cell["benchmark"]))}
            for cell in by_entrant[row["entrant"]]
        }
        entrants.append({**row, "cells": own})
    return {
        "benchmarks": sorted({cell["benchmark"] for cell in cells}),
        "entrants": entrants,
        "comparisons": warehouse.rows(QUERIES["changes"], _candidates(warehouse, names)),
        "notes": warehouse.rows(QUERIES["notes"]),
        "modes": warehouse.rows(QUERIES["modes"]),
    }


def tables(warehouse: Warehouse, names: Sequence[str] = ()) -> dict[str, pa.Table]:
    """The rows of the answer as Arrow tables, with the types of their columns."""
    changes = warehouse.arrow(QUERIES["changes"], [_candidates(warehouse, names)])
    others = {name: warehouse.arrow(QUERIES[name]) for name in ("standings", "cells")}
    return {**others, "comparisons": changes}


def _candidates(warehouse: Warehouse, names: Sequence[str]) -> list[str]:
    """The named candidates; the first name is the base."""
    return [entrant_named(warehouse, name) for name in names[1:]]
