"""The full account: what a page folds below each section, printed by the table of metrics."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pipeline.report import filters, phrases
from pipeline.report.content import Content
from pipeline.report.figures import Figure, Row
from pipeline.report.sections import COMPARISON

METRICS = Path(__file__).with_name("metrics.toml")
MOST_ROWS = 300


@dataclass(frozen=True)
class Metric:
    """A figure: what it is called, how it is printed, what it is, and which way is better."""

    words: str
    format: str
    definition: str
    better: str = ""


@dataclass(frozen=True)
class Account:
    """A table below a section: its title, whose rows, and which of their columns."""

    section: str
    title: str
    table: str
    columns: str


@cache
def _declared() -> dict[str, Any]:
    with METRICS.open("rb") as file:
        return tomllib.load(file)


@cache
def metrics() -> Mapping[str, Metric]:
    """Every metric by its column."""
    return {name: Metric(**each) for name, each in _declared().items() if name != "account"}


@cache
def accounts() -> list[Account]:
    """Every table of the account, in order."""
    return [Account(**each) for each in _declared()["account"]]


def tables(section: str, content: Content) -> str:
    """The tables of a section as Markdown with the marks of their figures."""
    pairs = {(each.base, each.candidate) for each in content.comparisons}
    parts = []
    for each in accounts():
        if each.section != section:
            continue
        if section == COMPARISON.name:
            rows = [row for row in content.tables[each.table] if (row.base, row.candidate) in pairs]
        else:
            rows = getattr(content, each.table)
        parts.append(_table(each.title, rows, each.columns.split()))
    return "\n\n".join(part for part in parts if part)


def _table(title: str, rows: Sequence[Row], columns: Sequence[str]) -> str:
    """A table without columns that nothing is in; of very many rows the first."""
    shown = [
        name for name in columns if any(row.values[name] not in (None, "", []) for row in rows)
    ]
    if not shown:
        return ""
    rules = ["---:" if name in metrics() else "---" for name in shown]
    lines = [
        f"#### {title}",
        "",
        f"| {' | '.join(_words(name) for name in shown)} |",
        f"| {' | '.join(rules)} |",
        *(f"| {' | '.join(_cell(row, name) for name in shown)} |" for row in rows[:MOST_ROWS]),
    ]
    if len(rows) > MOST_ROWS:
        lines += ["", f'The first rows; all: `blade sql "from {rows[0].relation}"`.']
    return "\n".join(lines)


def _words(name: str) -> str:
    metric = metrics().get(name)
    return metric.words if metric else name.removesuffix("_id").replace("_", " ")


def _cell(row: Row, name: str) -> str:
    value = row.values[name]
    if value is None or value == "":
        return ""
    if isinstance(value, list):
        return filters.listed(value)
    figure = getattr(row, name)
    if isinstance(figure, Figure):
        return PRINTED[metrics()[name].format if name in metrics() else "num"](figure)
    return filters.ref(str(value)) if name not in PLAIN else filters.cell(str(value))


PLAIN = frozenset({"metric", "policy", "measure", "outcome", "status", "reason", "stage", "title"})
PRINTED: Mapping[str, Callable[[Any], str]] = {
    name: filters.FILTERS.get(name) or phrases.FILTERS[name]
    for name in ("amount", "chance", "count", "num", "pct", "points", "points_apart")
}
