"""Marks of figures -> one source comment per block: the queries that give its numbers, in order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipeline.report.figures import MARK, Row, grouped
from pipeline.report.filters import CHART, settled
from pipeline.report.tables import EVERY, HEADLINES, Table
from pipeline.text import ACTIVE

BLANKS = re.compile(r"\n\n+")

# A row, and those of its columns that a block prints one after another.
Cited = tuple[Row, list[str]]
# What each column of a key is in the rows of a query.
Values = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Sources:
    """The rows of a report by table: they say how those of a block are asked for again."""

    tables: Mapping[str, Sequence[Row]]
    # Found when they are first asked for: rows by relation and place, and by table and run.
    _placed: dict[str, dict[str, Row]] = field(default_factory=dict)
    _of_runs: dict[str, dict[str, list[Row]]] = field(default_factory=dict)

    def written(self, text: str) -> str:
        """Markdown without marks, each block followed by its sources."""
        blocks = BLANKS.split(CHART.sub("", text).strip())
        return "\n\n".join(self._block(block.strip("\n")) for block in blocks if block.strip())

    def _block(self, block: str) -> str:
        lines = [settled(line) for line in MARK.sub("", block).split("\n")]
        cited = self._cited(MARK.findall(block))
        while cited:
            n = _n_alike(cited)
            lines.append(f"<!-- {self._query(cited[:n])} -->")
            cited = cited[n:]
        return "\n".join(lines)

    def _cited(self, marks: Iterable[str]) -> list[Cited]:
        found: list[Cited] = []
        for mark in marks:
            place, _, column = mark.rpartition("#")
            if found and found[-1][0].place == place and column not in found[-1][1]:
                found[-1][1].append(column)
            else:
                found.append((self._row(place), [column]))
        return found

    def _row(self, place: str) -> Row:
        relation = place.partition("?")[0]
        if relation not in self._placed:
            own = (rows for rows in self.tables.values() if rows and rows[0].relation == relation)
            self._placed[relation] = {row.place: row for rows in own for row in rows}
        return self._placed[relation][place]

    def _query(self, cited: Sequence[Cited]) -> str:
        rows = [row for row, _ in cited]
        values = {name: [row.values[name] for row in rows] for name in rows[0].key}
        fixed = [name for name in values if len(set(values[name])) == 1]
        wheres = [f"{name} = {literal(values[name][0])}" for name in fixed]
        ending = ""
        if len(fixed) < len(values):
            condition, among, order, limit = self._chosen(rows, values, fixed)
            # The condition says what is fixed by it.
            wheres = [where for where in wheres if where not in condition]
            wheres += [f"{_together(among)} in ({_listed(among, values)})"] if among else []
            wheres += [condition] if condition else []
            ending = f" order by {order}" + (f" limit {limit}" if limit else "")
        where = f" where {' and '.join(wheres)}" if wheres else ""
        _, columns = max(cited, key=lambda each: len(each[1]))
        return f"from {rows[0].relation}{where}{ending}: {', '.join(columns)}"

    def _chosen(
        self, rows: Sequence[Row], values: Values, fixed: Sequence[str]
    ) -> tuple[str, list[str], str, int | None]:
        """What tells these rows from others: a condition, columns, an order and a limit."""
        wanted = [row.place for row in rows]
        varying = [name for name in values if name not in fixed]
        in_order = list(zip(*(values[name] for name in varying), strict=True))
        sorted_ = ", ".join(varying) if in_order == sorted(in_order) else ""
        for name, table in EVERY.items():
            if table.relation != rows[0].relation:
                continue
            if table is HEADLINES and sorted_ and self._are_all_of_benchmark(rows):
                return f"benchmark = {literal(rows[0].benchmark)}", [], sorted_, None
            if table.query and not table.n_first:
                continue
            run_id = values["run_id"][0] if "run_id" in fixed else ""
            own = [row for row in self._of_run(name, run_id) if _is_among(row, values, fixed)]
            order = _shorter(table, fixed)
            # The fewest words that say it: all of them, those of some runs, the first of either.
            for among in ([], *([column] for column in varying)):
                left = [row.place for row in own if _is_among(row, values, among)]
                if left[: len(wanted)] == wanted and len(wanted) <= (table.n_first or len(left)):
                    is_all = len(left) == len(wanted) and not table.n_first
                    if is_all and sorted_:
                        order = min(order, sorted_, key=len)
                    return table.where, among, order, None if is_all else len(wanted)
            among_wanted = set(wanted)
            if not sorted_ and [row.place for row in own if row.place in among_wanted] == wanted:
                return "", varying, order, None
        order = f"list_position([{_listed(varying, values)}], {_together(varying)})"
        return "", varying, sorted_ or order, None

    def _are_all_of_benchmark(self, rows: Sequence[Row]) -> bool:
        heads = self.tables[HEADLINES.name]
        own = {head.run_id for head in heads if head.benchmark == rows[0].benchmark}
        return own == {row.run_id for row in rows}

    def _of_run(self, name: str, run_id: str) -> Sequence[Row]:
        """The rows of a table, of one run or of all: a page of each run asks for its own."""
        if not run_id:
            return self.tables[name]
        if name not in self._of_runs:
            self._of_runs[name] = grouped(self.tables[name], "run_id")
        return self._of_runs[name][run_id]


def literal(value: object) -> str:
    """A value for the query of a source: nothing in it can end the comment or break its line."""
    if value is None or isinstance(value, (bool, int, float)):
        return "null" if value is None else str(value).lower()
    told = str(value).replace("'", "''")
    told = ACTIVE.sub(lambda match: f"' || chr({ord(match[0])}) || '", told)
    told = told.replace("\n", "' || chr(10) || '").replace("\t", "' || chr(9) || '")
    # A browser ends a comment at --!> too.
    return "'" + re.sub("-(?=!?>)", "-' || '", told) + "'"


def _n_alike(cited: Sequence[Cited]) -> int:
    """How many of the first rows one query can give: other keys, the same columns or fewer."""
    (first, columns), places = cited[0], {cited[0][0].place}
    for n, (row, others) in enumerate(cited[1:], start=1):
        longer, shorter = sorted((columns, others), key=len, reverse=True)
        if row.relation != first.relation or row.place in places or not _is_part(shorter, longer):
            return n
        columns = longer
        places.add(row.place)
    return len(cited)


def _is_part(shorter: Sequence[str], longer: Sequence[str]) -> bool:
    rest = iter(longer)
    return all(column in rest for column in shorter)


def _is_among(row: Row, values: Values, names: Sequence[str]) -> bool:
    return all(row.values[name] in values[name] for name in names)


def _listed(names: Sequence[str], values: Values) -> str:
    """The values of these columns, each once, row by row."""
    rows = dict.fromkeys(zip(*(values[name] for name in names), strict=True))
    return ", ".join(_together([literal(value) for value in row]) for row in rows)


def _together(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def _shorter(table: Table, fixed: Sequence[str]) -> str:
    """The order of a table without columns that have one value."""
    order = table.order
    for name in fixed:
        column = rf"(?:list_position\(\[[^]]*\], {name}\)|{name})(?: desc)?(?: nulls last)?"
        order = re.sub(rf"(?:^|, ){column}(?=, |$)", "", order).removeprefix(", ")
    return order or table.order
