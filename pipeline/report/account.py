"""The full account: what a page folds below each section, printed by the table of metrics."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pipeline.report import filters
from pipeline.report.content import Content
from pipeline.report.figures import Figure, Row
from pipeline.report.sections import COMPARISON

MOST_ROWS = 300


@cache
def metrics() -> dict[str, Any]:
    """What metrics.toml declares: each metric by its column, and the tables of the account."""
    with Path(__file__).with_name("metrics.toml").open("rb") as file:
        return tomllib.load(file)


def tables(section: str, content: Content) -> str:
    """The tables of a section as Markdown with the marks of their figures."""
    pairs = {(each.base, each.candidate) for each in content.comparisons}
    parts = []
    for each in (each for each in metrics()["account"] if each["section"] == section):
        if section == COMPARISON.name:
            every = content.tables[each["table"]]
            rows = [row for row in every if (row.base, row.candidate) in pairs]
        else:
            rows = getattr(content, each["table"])
        parts.append(_table(each["title"], rows, each["columns"].split()))
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
    return str(metrics().get(name, {}).get("words") or name.removesuffix("_id").replace("_", " "))


def _cell(row: Row, name: str) -> str:
    value = row.values[name]
    if value is None or value == "":
        return ""
    if isinstance(value, list):
        return filters.listed(value)
    figure = getattr(row, name)
    if isinstance(figure, Figure):
        return PRINTED[metrics().get(name, {}).get("format", "num")](figure)
    return filters.ref(str(value)) if name not in PLAIN else filters.cell(str(value))


PLAIN = frozenset({"metric", "policy", "measure", "outcome", "status", "reason", "stage", "title"})
PRINTED: Mapping[str, Callable[[Any], str]] = {
    name: filters.FILTERS[name]
    for name in ("amount", "chance", "count", "num", "pct", "points", "points_apart")
}
