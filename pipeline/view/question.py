"""Any question in SQL, within a time and a number of rows; its rows as a table and as a chart."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from markupsafe import Markup

from pipeline.citation import parse
from pipeline.errors import BladeError, UsageError
from pipeline.report.charts import svg
from pipeline.report.wording import short
from pipeline.text import json_text
from pipeline.view.opened import Opened, Row
from pipeline.warehouse import Warehouse

SECONDS, MOST_ROWS, MOST_CHARACTERS, MOST_BARS = 20.0, 1000, 400, 40
LONGEST_QUERY = 20_000
EXAMPLES = (
    "from run_metrics",
    "select run_id, bucket, n_tasks from bucket_counts order by all",
    "select mode, sum(n_rollouts) as n_rollouts from failure_modes group by all order by 2 desc",
    "select run_id || '/' || rollout_id as rollout, reward, n_tool_errors from rollouts\n"
    "order by n_tool_errors desc nulls last limit 50",
    "select tool, count(*) as n_calls from events where kind = 'tool_call' group by all\n"
    "order by n_calls desc",
)


@dataclass(frozen=True)
class Question:
    """A query and what came of it."""

    query: str
    schema: list[Row]
    names: list[str]
    rows: list[list[tuple[str, str]]]
    is_cut: bool
    error: str
    hint: str
    chart: Markup
    axes: tuple[str, str]
    numbers: list[str]


def question(opened: Opened, query: Mapping[str, str], *, seconds: float = SECONDS) -> Question:
    """The answer; a query that fails or takes too long says so in its place."""
    text = query.get("query", "").strip()
    schema = opened.keep("schema", lambda: opened.rows("schema"))
    names: list[str] = []
    values: list[tuple[Any, ...]] = []
    error = hint = ""
    if len(text) > LONGEST_QUERY:
        error = f"The query has more than {LONGEST_QUERY:,} characters."
    elif text:
        try:
            names, values = _answer(opened.warehouse, text, seconds)
        except BladeError as failed:
            error, hint = str(failed), failed.hint
    ids = opened.keep("run ids", lambda: opened.rows("run_ids", benchmark=""))
    runs = {row["run_id"] for row in ids}
    shown = values[:MOST_ROWS]
    numbers = [
        name
        for place, name in enumerate(names)
        if any(_is_number(row[place]) for row in shown)
        and all(row[place] is None or _is_number(row[place]) for row in shown)
    ]
    axes = _axes(names, numbers, query)
    chart = _chart(names, shown, axes) if axes[1] else Markup("")
    cells = [[_cell(value, runs) for value in row] for row in shown]
    is_cut = len(values) > MOST_ROWS
    return Question(text, schema, names, cells, is_cut, error, hint, chart, axes, numbers)


def _answer(
    warehouse: Warehouse, text: str, seconds: float
) -> tuple[list[str], list[tuple[Any, ...]]]:
    with warehouse.explained(), _in_time(warehouse, seconds):
        result = warehouse.execute(text)
        return [column[0] for column in result.description or []], result.fetchmany(MOST_ROWS + 1)


@contextmanager
def _in_time(warehouse: Warehouse, seconds: float) -> Iterator[None]:
    """Interrupt until it ends: an interrupt between two fetches is not seen by the next."""
    is_done, is_late = threading.Event(), threading.Event()

    def watch() -> None:
        if is_done.wait(seconds):
            return
        is_late.set()
        while not is_done.wait(0.05):
            warehouse.interrupt()

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield
    except Exception as error:
        if is_late.is_set():
            raise UsageError(
                f"The query took longer than {seconds:g} s and was ended.",
                hint="Ask for less, or give it more time with: blade sql --timeout SECONDS",
            ) from error
        raise
    finally:
        is_done.set()
        watching.join()


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def _cell(value: Any, runs: set[str]) -> tuple[str, str]:
    """A value as text, and the attempt it cites, if it is a citation."""
    if value is None:
        return "", ""
    if isinstance(value, float):
        return f"{value:.6g}", ""
    if isinstance(value, (dict, list)):
        value = json_text(value)
    text = str(value)
    cited = parse(text) if len(text) < MOST_CHARACTERS else None
    target = str(cited) if cited and cited.run_id in runs else ""
    more = f"… ({len(text):,} characters)" if len(text) > MOST_CHARACTERS else ""
    return text[:MOST_CHARACTERS] + more, target


def _axes(names: list[str], numbers: list[str], query: Mapping[str, str]) -> tuple[str, str]:
    """What is drawn by what: as asked, else the first number by the first other column."""
    value = query.get("y", "")
    by = query.get("x", "")
    others = [name for name in names if name not in numbers]
    if by not in names:
        by = next(iter([*others, *names]), "")
    if value not in numbers:
        value = next((name for name in numbers if name != by), "")
    return by, value


def _chart(names: list[str], rows: list[tuple[Any, ...]], axes: tuple[str, str]) -> Markup:
    """Bars of one column by another, the first rows."""
    by, value = (names.index(each) for each in axes)
    drawn = [(str(_name(row[by])), float(row[value])) for row in rows if row[value] is not None]
    return bars(f"{axes[1]} by {axes[0]}", drawn)


def _name(value: Any) -> Any:
    """A value as the name of a bar."""
    return "" if value is None else json_text(value) if isinstance(value, (dict, list)) else value


def bars(title: str, values: Sequence[tuple[str, float]]) -> Markup:
    """Named values as bars from 0, drawn as the report draws its own."""
    shown = [each for each in values if abs(each[1]) < 1e300][:MOST_BARS]
    scale = svg.scale([number for _, number in shown], svg.LEFT, svg.RIGHT) if shown else None
    if scale is None:
        return Markup("")
    lines = []
    for name, number in shown:
        start, end = sorted((scale.at(0.0), scale.at(number)))
        kind = "reached" if number >= 0 else "loss"
        text = short(f"{number:.4f}") if abs(number) < 1e6 else f"{number:.4g}"
        lines.append(svg.Line(name, [[text]], svg.bar(kind, start, end)))
    high = svg.TOP + svg.ROW * len(lines)
    drawn = svg.axis(svg.ticks(scale.low, scale.high), scale, 22, high)
    drawn += svg.rows(lines, [(svg.VALUE, "", "end")])
    more = f"The first {len(shown)} of {len(values)} rows." if len(shown) < len(values) else ""
    return Markup(
        svg.figure(svg.figure_id("bars", {"title": title}), title, lines, drawn, high + 26, more)
    )
