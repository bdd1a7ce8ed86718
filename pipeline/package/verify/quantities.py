"""The quantities that the data know: each a value with its place, its names and its words."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pipeline.package.numbers import Number
from pipeline.package.verify.column_words import BUCKETS, INTERVAL, INTERVAL_WORDS, WORDS
from pipeline.package.verify.data import Relations
from pipeline.package.verify.printed import number_of
from pipeline.report.wording import BEHAVIOURS, MEASURES

# Which columns of a relation say what a row is about; the rest are its quantities.
RELATIONS: Mapping[str, tuple[str, ...]] = {
    "run_metrics": ("run_id",),
    "pass_curve": ("run_id", "k"),
    "estimates": ("run_id", "metric", "k"),
    "denominators": ("run_id", "policy"),
    "bucket_counts": ("run_id", "bucket"),
    "slice_metrics": ("run_id", "slice_key", "slice_value"),
    "resource_stats": ("run_id", "outcome", "measure"),
    "reward_components": ("run_id", "component"),
    "report.modes": ("run_id", "mode"),
    "report.mode_totals": ("mode",),
    "report.funnels": ("run_id", "stage_no", "stage"),
    "report.causes": ("run_id", "cause"),
    "recommendations": ("run_id", "rank"),
    "error_signatures": ("run_id", "source", "signature"),
    "report.separators": ("run_id", "feature"),
    "ablation": ("run_id", "step_no", "step"),
    "selection_value": ("run_id", "k"),
    "run_health": ("run_id",),
    "report.health_checks": ("run_id", "scope", "check_id"),
    "report.never_counts": ("run_id",),
    "report.task_totals": ("benchmark",),
    "comparisons": ("base", "candidate", "metric"),
    "comparison_metrics": ("base", "candidate", "metric", "k"),
    "report.transitions": ("base", "candidate", "bucket_before", "bucket_after"),
    "report.run_inventory": ("run_id", "kind"),
    "report.inventory": ("kind",),
    "artifacts": ("path", "kind"),
    "report.reported": ("run_id", "status", "reason"),
    "report.findings": ("finding_no", "run_id", "base"),
    "report.gaps": ("run_id", "gap_no"),
    "report.series": ("series", "place_no", "run_id"),
}
OF_TASKS: Mapping[str, tuple[str, ...]] = {
    "task_outcomes": ("run_id", "task_id"),
    "report.dives": ("run_id", "task_id"),
    "report.contrasts": ("run_id", "task_id"),
    "suspicions": ("run_id", "task_id", "rule"),
    "bucket_matrix": ("benchmark", "task_id"),
}
# Keys that need no naming: they follow from the words of the quantity itself.
IMPLIED = frozenset(
    "stage_no step_no scope metric slice_key source k status reason finding_no gap_no series "
    "place_no kind rule".split()
)
BUCKET_COUNTS = ("n_always_tasks", "n_sometimes_tasks", "n_never_tasks")
RUNS = ("run_id", "base", "candidate")


@dataclass(frozen=True, eq=False)
class Quantity:
    """A value of the data, and what has to be said beside a number for it to be meant."""

    source: str
    # The relation and column it is of.
    column: tuple[str, str]
    value: float
    # All of these are named, one alternative of each: a mode, a stage, a slice.
    names: tuple[str, ...]
    runs: tuple[str, ...]
    task: str | None
    # Any of these is said: lists of stems, all of one list near the number.
    phrases: tuple[tuple[str, ...], ...]
    # Whether it is a share or a difference of shares, printed in hundredths.
    is_rate: bool


@dataclass(frozen=True)
class Quantities:
    """Quantities by value, so that those a number may mean are found at once."""

    every: tuple[Quantity, ...]
    values: tuple[float, ...]

    @cached_property
    def by_column(self) -> dict[tuple[str, str], list[Quantity]]:
        """Those of each column of a relation."""
        found: dict[tuple[str, str], list[Quantity]] = {}
        for each in self.every:
            found.setdefault(each.column, []).append(each)
        return found

    def near(self, number: Number) -> list[Quantity]:
        """Those whose value would be printed like the number."""
        half = 0.5 * 10.0**-number.decimals * (1 + 1e-9) + 1e-9 * max(1.0, abs(number.value))
        # A difference of shares is told in points, in tables often without the word.
        scales = (0.01,) if number.unit else (1.0, 0.01) if number.is_signed else (1.0,)
        signs = (1.0,) if number.is_signed else (1.0, -1.0)
        found: list[Quantity] = []
        for sign in signs:
            for scale in scales:
                middle = sign * number.value * scale
                low = bisect_left(self.values, middle - half * scale)
                high = bisect_right(self.values, middle + half * scale)
                near = self.every[low:high]
                found += near if scale == 1.0 else [each for each in near if each.is_rate]
        return list(dict.fromkeys(found))


def sorted_by_value(found: Iterable[Quantity]) -> Quantities:
    """Quantities in order of their values."""
    every = sorted(found, key=lambda each: (each.value, each.source))
    return Quantities(tuple(every), tuple(each.value for each in every))


def of_data(data: Relations) -> Quantities:
    """All quantities of runs, modes, stages, slices and comparisons."""
    of_rows = (
        quantity
        for relation, keys in RELATIONS.items()
        for row in data.table(relation)
        for quantity in of_row(relation, keys, row)
    )
    return sorted_by_value([*of_rows, *_numbers_of_rows(data)])


def _numbers_of_rows(data: Relations) -> Iterator[Quantity]:
    """How many modes a run has, and all runs together."""
    counted: dict[tuple[str, str], int] = {}
    for relation in ("report.modes", "ablation", "report.mode_totals"):
        for row in data.table(relation):
            if row["mode"] is not None:
                place = (relation, row.get("run_id", ""))
                counted[place] = counted.get(place, 0) + 1
    for (relation, run), value in counted.items():
        source = f"the rows of {relation}{f' of {run}' if run else ''}"
        runs = (run,) if run else ()
        column = (relation, "rows")
        yield Quantity(source, column, float(value), (), runs, None, (("mode",),), is_rate=False)


def of_tasks(data: Relations, tasks: Iterable[str]) -> dict[str, Quantities]:
    """The quantities of each of these tasks, in every run."""
    found: dict[str, list[Quantity]] = {}
    wanted = sorted(set(tasks))
    for relation, keys in OF_TASKS.items():
        if relation not in data.columns:
            continue
        columns = list(data.columns[relation])
        for (task,), rows in data.looked_up(
            relation, ("task_id",), [(task,) for task in wanted], columns
        ).items():
            for row in rows:
                found.setdefault(task, []).extend(of_row(relation, keys, row))
    return {task: sorted_by_value(each) for task, each in found.items()}


def of_row(relation: str, keys: tuple[str, ...], row: Mapping[str, Any]) -> Iterator[Quantity]:
    """Every number of a row that is no key of it."""
    key = "&".join(f"{name}={row[name]}" for name in keys if row.get(name) is not None)
    runs = tuple(str(row[name]) for name in RUNS if name in keys and row.get(name) is not None)
    names = tuple(
        _alternatives(name, str(row[name]))
        for name in keys
        if name not in (*RUNS, "task_id", "benchmark", *IMPLIED) and row.get(name) is not None
    )
    task = str(row["task_id"]) if "task_id" in keys else None
    for column, value in _derived(relation, row).items():
        number = number_of(value)
        if column in keys or number is None:
            continue
        phrases = _phrases(relation, column, row)
        named = () if column.startswith("n_all_") else names
        source = f"{relation}?{key}#{column}"
        place, is_rate = (relation, column), _is_rate(column, number)
        yield Quantity(source, place, number, named, runs, task, phrases, is_rate)


def _derived(relation: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a row, and what readers work out from two of them."""
    found = dict(row)
    if relation == "task_outcomes" and row["n_scored"] and row["n_passed"] is not None:
        found["n_failed"] = row["n_scored"] - row["n_passed"]
    if relation == "run_metrics":
        # A sidecar need not have them, nor as numbers.
        told = {name: row.get(name) for name in BUCKET_COUNTS}
        counts = {name: count for name, count in told.items() if isinstance(count, (int, float))}
        if "n_always_tasks" in counts and "n_sometimes_tasks" in counts:
            both = counts["n_always_tasks"] + counts["n_sometimes_tasks"]
            found["n_always_tasks + n_sometimes_tasks"] = both
        n_scored = row.get("n_scored_tasks")
        if n_scored and isinstance(n_scored, (int, float)):
            found |= {f"{name} / n_scored_tasks": n / n_scored for name, n in counts.items()}
    return found


def _phrases(relation: str, column: str, row: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    plain = column.split(" ")[0]
    words = COLUMN_WORDS.get(plain, plain.removeprefix("n_").replace("_", " "))
    if " + " in column:
        words = "least once|ever pass|solv|any pass|pass"
    if relation == "bucket_counts":
        words = "task"
    told = words.replace("{k}", str(row.get("k", "k")))
    phrases = [tuple(each.split()) for each in told.split("|")]
    phrases.append(tuple(plain.removeprefix("n_").removeprefix("all_").split("_")))
    if INTERVAL.search(column):
        phrases = [tuple(each.split()) for each in INTERVAL_WORDS]
    return tuple(phrases)


def _alternatives(name: str, value: str) -> str:
    """What a part of a key may be called in a text, apart by bars."""
    if name in ("measure", "metric"):
        return f"{MEASURES.get(value, value)}|{value.removeprefix('n_').replace('_', ' ')}"
    if name == "feature":
        return BEHAVIOURS.get(value, value.removeprefix("calls "))
    if name == "bucket" or name.startswith("bucket_"):
        return BUCKETS.get(value, value)
    if name == "outcome":
        return {"passed": "pass", "failed": "fail"}.get(value, value)
    if name == "policy":
        return value.replace("_", " ").split()[0]
    if name == "signature":
        return value[:24]
    return "|".join(dict.fromkeys([value, value.replace("_", " "), value.replace("_", "-")]))


def _is_rate(column: str, value: float) -> bool:
    is_count = column.startswith("n_") and "/" not in column
    return not is_count and -1.0 <= value <= 1.0


COLUMN_WORDS = {column: words for columns, words in WORDS.items() for column in columns.split("|")}
