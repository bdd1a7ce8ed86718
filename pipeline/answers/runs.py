"""What was read, and comparisons, failures and health of runs, as plain values."""

from __future__ import annotations

from ..files import read_queries
from ..report import TABLES
from ..report.comparisons import FEWEST_TASKS, hides_small
from ..warehouse import Warehouse
from .names import Row, find_run, grouped

QUERIES = read_queries("answers/runs")
MOST_ERRORS = 5
EXPECTED_TOOLS = "from expected_tools order by benchmark, rank"
LOOKED = "from report.looked order by benchmark"
# Frequent suspicions: columns with the attempts that show one, and those for which it is known.
SUSPECTED = {
    "attempts at a {limits} limit": ("n_at_limit", "n_limit_known"),
    "empty answers": ("n_empty", "n_answering"),
    "ungraded attempts": ("n_ungraded", "n_attempts"),
}


def inventory(warehouse: Warehouse) -> list[Row]:
    return warehouse.rows(QUERIES["inventory"])


def first_comparisons(warehouse: Warehouse, most: int) -> tuple[list[Row], int]:
    """At most so many comparisons, and those beyond them whose candidate has become worse.

    The number is of pairs that are left out because they have too few tasks.
    """
    (counted,) = warehouse.rows(QUERIES["small"], FEWEST_TASKS)
    is_hidden = hides_small(counted["n_small"], counted["n_others"])
    rows = warehouse.rows(QUERIES["compared"], FEWEST_TASKS if is_hidden else 0, most)
    return rows, counted["n_small"] if is_hidden else 0


def ranked_failures(warehouse: Warehouse, name: str | None, limit: int | None) -> list[Row]:
    """How the runs of each benchmark fail, or one run.

    Failure modes in order and how often they occur in passes, expected and actual calls, examples
    with what their records state, and what was searched.
    """
    chosen = None if name is None else find_run(warehouse, name)
    run_id = None if chosen is None else chosen["run_id"]
    errors = grouped(warehouse.rows(QUERIES["errors"], limit or MOST_ERRORS), "run_id")
    causes = grouped(warehouse.rows(QUERIES["causes"]), "run_id")
    runs = grouped(warehouse.rows(QUERIES["runs"]), "benchmark")
    modes = grouped(warehouse.rows(QUERIES["modes"], run_id), "benchmark")
    by_run = grouped(warehouse.rows(QUERIES["modes_by_run"]), "benchmark")
    concentrations = grouped(warehouse.rows(TABLES["concentrations"].select), "benchmark")
    tools = grouped(warehouse.rows(EXPECTED_TOOLS), "benchmark")
    lines = grouped(warehouse.rows(QUERIES["failure_lines"], run_id), "benchmark")
    looked = {row.pop("benchmark"): row for row in warehouse.rows(LOOKED)}
    listed = []
    for benchmark, all_runs in runs.items():
        if chosen is not None and chosen["benchmark"] != benchmark:
            continue
        own = [run for run in all_runs if run_id in (None, run["run_id"])]
        for run in own:
            run["error_signatures"] = errors[run["run_id"]]
            run["root_causes"] = causes[run["run_id"]]
        # Slices are counted over all runs.
        is_whole = len(own) == len(all_runs)
        whole = _modes(
            modes[benchmark],
            by_run[benchmark] if len(own) > 1 else [],
            concentrations[benchmark] if is_whole else [],
        )
        ranked = [mode for mode in whole if mode["reason"] != "none"]
        looked_at = looked.get(benchmark)
        listed.append(
            {
                "benchmark": benchmark,
                "run_id": run_id,
                "runs": own,
                "n_modes": len(ranked),
                "modes": ranked[:limit],
                "no_shared_sign": next((mode for mode in whole if mode["reason"] == "none"), None),
                "expected_tools": tools[benchmark][:limit],
                "n_expected_tools": len(tools[benchmark]),
                "failure_lines": lines[benchmark],
                "looked_at": looked_at,
                "not_found": _absent(looked_at, ranked) if looked_at else [],
            }
        )
    return listed


def _modes(modes: list[Row], by_run: list[Row], concentrations: list[Row]) -> list[Row]:
    """Each mode with its parts, its counts per run and the slice where it is most frequent."""
    parts = grouped((dict(mode) for mode in modes if mode["parent"] is not None), "parent")
    runs = grouped(by_run, "mode")
    slices = {row.pop("mode"): row for row in concentrations}
    return [
        {
            **{name: value for name, value in mode.items() if name != "parent"},
            "parts": parts[mode["mode"]],
            "runs": runs[mode["mode"]],
            "concentration": slices.get(mode["mode"]),
        }
        for mode in modes
        if mode["parent"] is None
    ]


def _absent(looked: Row, modes: list[Row]) -> list[Row]:
    """Frequent suspicions that no attempt shows, although it would be recorded."""
    is_ungraded = any(mode["reason"] == "ungraded" for mode in modes)
    return [
        {
            "what": what.format(limits=" or ".join(looked["limit_kinds"])),
            "n_observed": looked[observed],
            "n_without_message": looked["n_without_message"] if what == "empty answers" else 0,
        }
        for what, (n_shown, observed) in SUSPECTED.items()
        if looked[observed]
        and not looked[n_shown]
        and not (what == "ungraded attempts" and (is_ungraded or not looked["n_scored"]))
    ]


def checked_health(warehouse: Warehouse, name: str | None) -> Row:
    chosen = None if name is None else find_run(warehouse, name)["run_id"]
    queries = {"runs": TABLES["health"].select, "checks": "from report.health_checks"}
    return {
        name: [row for row in warehouse.rows(query) if chosen in (None, row["run_id"])]
        for name, query in queries.items()
    }
