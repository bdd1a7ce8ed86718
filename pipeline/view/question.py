"""Any SQL query, within limits of time and rows; its rows as a table and as a chart."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from markupsafe import Markup

from ..answers.queries import unique_names
from ..citation import parse
from ..errors import BladeError
from ..query_worker import MOST_BYTES, MOST_WORKERS, Bounds, ask
from ..report.charts import svg
from ..report.wording import short
from ..text import json_text
from ..warehouse import Warehouse, shared_memory
from .opened import Opened, Page

Rows = list[tuple[Any, ...]]
SECONDS = 20.0
MOST_ROWS = 1000
MOST_CHARACTERS = 400
MOST_BARS = 40
LONGEST_QUERY = 20_000
LARGEST = 1e300


def question(opened: Opened, query: Mapping[str, str], *, seconds: float = SECONDS) -> Page:
    """The page of a query: its rows, or its error."""
    text = query.get("query", "").strip()
    schema = opened.cached("schema", lambda: opened.rows("schema"))
    names: list[str] = []
    rows: Rows = []
    is_cut = False
    error = hint = ""
    if len(text) > LONGEST_QUERY:
        error = f"The query has more than {LONGEST_QUERY:,} characters."
    elif text:
        try:
            names, rows, is_cut = _answer(opened.warehouse, text, seconds)
        except BladeError as failed:
            error, hint = str(failed), failed.hint
    ids = opened.cached("run ids", lambda: opened.rows("run_ids", benchmark=""))
    runs = {row["run_id"] for row in ids}
    numbers = [
        name
        for place, name in enumerate(names)
        if any(_is_number(row[place]) for row in rows)
        and all(row[place] is None or _is_number(row[place]) for row in rows)
    ]
    axes = _axes(names, numbers, query)
    chart = _chart(names, rows, axes) if axes[1] else Markup("")
    cells = [[_cell(value, runs) for value in row] for row in rows]
    return {
        "query": text,
        "error": error,
        "hint": hint,
        "schema": schema,
        "names": names,
        "rows": cells,
        "is_cut": is_cut,
        "chart": chart,
        "axes": axes,
        "numbers": numbers,
    }


def _answer(warehouse: Warehouse, text: str, seconds: float) -> tuple[list[str], Rows, bool]:
    """Names, the first rows, and whether there are more."""
    assert warehouse.path is not None
    limit = shared_memory(warehouse.memory_limit, MOST_WORKERS)
    bounds = Bounds(most_rows=MOST_ROWS, most_bytes=MOST_BYTES)
    with ask(warehouse.path, text, seconds=seconds, memory_limit=limit, bounds=bounds) as answer:
        rows = list(answer)
        return unique_names(answer.names), rows, answer.is_cut


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
    """The columns of the chart: as requested, else the first number by the first other column."""
    by, value = query.get("x", ""), query.get("y", "")
    if by not in names:
        by = next((name for name in names if name not in numbers), next(iter(names), ""))
    return by, value if value in numbers else next((name for name in numbers if name != by), "")


def _chart(names: list[str], rows: Rows, axes: tuple[str, str]) -> Markup:
    """Bars of one column by another, of the first rows."""
    by, value = (names.index(each) for each in axes)
    drawn = [
        (_cell(row[by], set())[0], float(row[value])) for row in rows if row[value] is not None
    ]
    shown = [each for each in drawn if abs(each[1]) < LARGEST][:MOST_BARS]
    numbers = [number for _, number in shown]
    scale = svg.scale(numbers, svg.PLOT_START, svg.PLOT_END) if shown else None
    if scale is None:
        return Markup("")
    lines = []
    shapes = svg.macros("shapes")
    for name, number in shown:
        start, end = sorted((scale.at(0.0), scale.at(number)))
        kind = "reached" if number >= 0 else "loss"
        text = short(f"{number:.4f}") if abs(number) < 1e6 else f"{number:.4g}"
        lines.append(svg.Line(name, [[text]], shapes["bar"](kind, start, end)))
    high = svg.TOP + svg.ROW * len(lines)
    picture = shapes["axis"](svg.ticks(scale.low, scale.high), scale, 22, high)
    picture += shapes["rows"](lines, [(svg.VALUE, "", "end")])
    more = f"The first {len(shown)} of {len(rows)} rows." if len(shown) < len(rows) else ""
    title = svg.inert(f"{axes[1]} by {axes[0]}")
    return Markup(shapes["figure"]("chart-answer", title, lines, picture, high + 26, more))
