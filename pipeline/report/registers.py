"""Relations -> the registers of a benchmark: its failing tasks, and how its runs compare."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import groupby
from operator import itemgetter
from typing import Any

from ..files import read_queries
from ..text import json_text
from .content import Content, collect
from .declared import SECTIONS
from .markdown import document
from .tables import Source, dicts

FAILED, STATISTICS, REPORT = REGISTERS = (
    "failed_task_register.json",
    "model_comparison_statistics.json",
    "model_comparison_report.md",
)
QUERIES = read_queries("report/registers")
DEFINITION = (
    "Tasks that at least one scored attempt of a run fails, with the failure to open first. "
    "is_shared_never_pass: scored in every run and passed in none. A queue for review: that all "
    "fail does not make a task defective."
)
METHOD = (
    "Paired by task; 95% intervals for new tasks; p of the paired test named in the relation "
    "comparisons; Benjamini-Hochberg across all tests at 0.05."
)
# Scores, then tasks, then what changed between the runs.
COMPARED = [
    SECTIONS[name]
    for name in ("aggregate_results", "task_outcome_buckets", "cross_model_comparison")
]
OF_RUN = ("run_id", "bucket", "n_passed", "n_scored", "mode", "n_with_mode")
MOST_CHECKS, MOST_NOTES, DIGITS = 20, 4, 6


def registers(source: Source, content: Content) -> dict[str, str]:
    """The text of each by its name, of the one benchmark that the content is of."""
    (benchmark,) = content.benchmarks
    return {
        FAILED: json_text(_failed(source, benchmark), indent=2) + "\n",
        STATISTICS: json_text(_statistics(source, benchmark), indent=2) + "\n",
        REPORT: document(content, sections=COMPARED).text,
    }


def of_package(source: Source) -> dict[str, str]:
    """The registers of a package; none where its profile gives no run, or several benchmarks."""
    content = collect(source)
    return registers(source, content) if len(content.benchmarks) == 1 else {}


def _failed(source: Source, benchmark: str) -> dict[str, Any]:
    checks: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in _rows(source, "checks", benchmark):
        checks[row.pop("run_id"), row.pop("task_id")].append(row)
    failing = _rows(source, "failing", benchmark)
    keys = [[row[name] for row in failing] for name in ("run_id", "task_id", "rollout_index")]
    notes: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in _rows(source, "notes", benchmark, *keys) if failing else ():
        notes[row["run_id"], row["task_id"]].append(row["note"])
    tasks = []
    for task_id, group in groupby(failing, key=itemgetter("task_id")):
        own = list(group)
        of_task = {key: own[0][key] for key in ("category", "is_shared_never_pass")}
        runs = []
        for row in own:
            key = (row["run_id"], task_id)
            cited = f"{row['run_id']}/{task_id}:{row['rollout_index']}"
            seq = row["seq"]
            runs.append(
                {name: row[name] for name in OF_RUN}
                | ({"cause": row["cause"]} if row["cause"] else {})
                | {"citation": cited if seq is None else f"{cited}#{seq}"}
                | {"n_failed_checks": len(checks[key]), "failed_checks": checks[key][:MOST_CHECKS]}
                | {"notes": notes[key][:MOST_NOTES]}
            )
        known = {name: value for name, value in of_task.items() if value is not None}
        tasks.append({"task_id": task_id, **known, "runs": runs})
    shared = [task for task in tasks if task.get("is_shared_never_pass")]
    categories = Counter(task["category"] for task in shared if "category" in task)
    return {
        "benchmark": benchmark,
        "definition": DEFINITION,
        "models": [row["name"] for row in _rows(source, "models", benchmark)],
        "failing_task_count": len(tasks),
        "shared_never_pass_count": len(shared),
        "by_category": dict(sorted(categories.items())),
        "tasks": tasks,
    }


def _statistics(source: Source, benchmark: str) -> dict[str, Any]:
    tests = _rows(source, "tests", benchmark)
    metrics = {row.pop("metric") for row in tests}
    return {
        "benchmark": benchmark,
        "method": METHOD,
        "unit": f"{'/'.join(sorted(metrics)) or 'pass_at_1'}, model_a minus model_b",
        "tests_run": len(tests),
        "tests_significant": sum(row["significant"] for row in tests),
        "tests": tests,
    }


def _rows(source: Source, name: str, benchmark: str, *others: Any) -> list[dict[str, Any]]:
    rows = dicts(source, QUERIES[name], [benchmark, *others])
    return [{column: _rounded(value) for column, value in row.items()} for row in rows]


def _rounded(value: Any) -> Any:
    """Digits that another machine would give too: a register is compared with the rollouts."""
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return round(value, DIGITS) if isinstance(value, float) else value
