"""Marks of figures -> one source comment per block: the queries that give its numbers, in order."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from pipeline.report.blocks import literal
from pipeline.report.figures import Row
from pipeline.report.filters import settled
from pipeline.report.marks import CHART
from pipeline.report.tables import EVERY, HEADLINES, Table

MARK = re.compile(r"<!--blade:([^<>\s]+)-->")
BLANKS = re.compile(r"\n\n+")
# A query of our own stands for a relation, and its text for the key.
QUERY = "sql"

Key = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Cited:
    """Columns of one row, in the order a block prints them."""

    relation: str
    key: Key
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Sources:
    """The rows of a report by table: they say how those of a block are asked for again."""

    tables: Mapping[str, Sequence[Row]]
    _keys: dict[str, dict[str, list[Key]]] = field(default_factory=dict)
    _runs: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def written(self, text: str) -> str:
        """Markdown without marks, each block followed by its sources."""
        blocks = BLANKS.split(CHART.sub("", text).strip())
        return "\n\n".join(self._block(block.strip("\n")) for block in blocks if block.strip())

    def _block(self, block: str) -> str:
        comments = [f"<!-- {query} -->" for query in self.queries(MARK.findall(block))]
        lines = [settled(line) for line in MARK.sub("", block).split("\n")]
        return "\n".join([*lines, *comments])

    def queries(self, marks: Iterable[str]) -> list[str]:
        """What gives the values of these marks, in their order."""
        found, cited = [], _cited(marks)
        while cited:
            n = _n_alike(cited)
            found.append(self._query(cited[:n]))
            cited = cited[n:]
        return found

    def _query(self, cited: Sequence[Cited]) -> str:
        first = cited[0]
        if first.relation == QUERY:
            return f"sql: {first.columns[0]}"
        values = {name: [dict(each.key)[name] for each in cited] for name, _ in first.key}
        fixed = [name for name in values if len(set(values[name])) == 1]
        wheres = [f"{name} = {_literal(name, values[name][0])}" for name in fixed]
        ending = ""
        if len(fixed) < len(values):
            condition, among, order, limit = self._chosen(cited, values, fixed)
            if condition:
                # The condition says what is fixed by it.
                wheres = [where for where in wheres if where not in condition]
            wheres += [f"{_together(among)} in ({_listed(among, values)})"] if among else []
            wheres += [condition] if condition else []
            ending = f" order by {order}" + (f" limit {limit}" if limit else "")
        where = f" where {' and '.join(wheres)}" if wheres else ""
        longest = max(cited, key=lambda each: len(each.columns))
        columns = ", ".join(longest.columns)
        return f"from {first.relation}{where}{ending}: {columns}"

    def _chosen(
        self, cited: Sequence[Cited], values: Mapping[str, Sequence[str]], fixed: Sequence[str]
    ) -> tuple[str, list[str], str, int | None]:
        """What tells these rows from others: a condition, columns, an order and a limit."""
        wanted = [each.key for each in cited]
        varying = [name for name in values if name not in fixed]
        among_wanted = set(wanted)
        sorted_ = ", ".join(varying) if _is_sorted(varying, values) else ""
        for name, table in EVERY.items():
            if table.relation != cited[0].relation:
                continue
            if table is HEADLINES and (benchmark := self._whole_benchmark(wanted)) and sorted_:
                return f"benchmark = {_literal('', benchmark)}", [], sorted_, None
            if table.query and not table.n_first:
                continue
            run_id = values["run_id"][0] if "run_id" in fixed else ""
            own = [key for key in self._keys_of(name, run_id) if _is_among(key, values, fixed)]
            order = _shorter(table, fixed)
            # The fewest words that say it: all of them, those of some runs, the first of either.
            for among in ([], *([column] for column in varying)):
                left = [key for key in own if _is_among(key, values, among)]
                if left[: len(wanted)] == wanted and len(wanted) <= (table.n_first or len(left)):
                    is_all = len(left) == len(wanted) and not table.n_first
                    if is_all and sorted_:
                        order = min(order, sorted_, key=len)
                    return table.where, among, order, None if is_all else len(wanted)
            if not sorted_ and [key for key in own if key in among_wanted] == wanted:
                return "", varying, order, None
        order = f"list_position([{_listed(varying, values)}], {_together(varying)})"
        return "", varying, sorted_ or order, None

    def _whole_benchmark(self, wanted: Sequence[Key]) -> str:
        """The benchmark whose runs these are, all of them."""
        if not self._runs:
            for head in self.tables.get(HEADLINES.name, ()):
                self._runs[head.benchmark].add(head.run_id)
        runs = {value for key in wanted for name, value in key if name == "run_id"}
        return next((name for name, own in self._runs.items() if own == runs), "")

    def _keys_of(self, name: str, run_id: str) -> list[Key]:
        """The keys of a table's rows, of one run or of all: a page of each run asks for its own."""
        if name not in self._keys:
            found = self._keys[name] = defaultdict(list)
            for row in self.tables.get(name, ()):
                key = tuple((column, str(row.values[column])) for column in row.key)
                for own in {"", str(row.values.get("run_id", ""))}:
                    found[own].append(key)
        return self._keys[name][run_id]


def _cited(marks: Iterable[str]) -> list[Cited]:
    found: list[Cited] = []
    for mark in marks:
        place, _, column = mark.rpartition("#")
        relation, _, pairs = place.partition("?")
        if relation == QUERY:
            found.append(Cited(QUERY, (), (unquote(pairs),)))
            continue
        key = tuple(
            (name, unquote(value))
            for name, _, value in (pair.partition("=") for pair in pairs.split("&"))
        )
        last = found[-1] if found else None
        if last and (last.relation, last.key) == (relation, key) and column not in last.columns:
            found[-1] = Cited(relation, key, (*last.columns, column))
        else:
            found.append(Cited(relation, key, (column,)))
    return found


def _n_alike(cited: Sequence[Cited]) -> int:
    """How many of the first rows one query can give: other keys, the same columns or fewer."""
    first, keys = cited[0], {cited[0].key}
    columns = first.columns
    n = 1
    for each in cited[1:]:
        longer, shorter = sorted((columns, each.columns), key=len, reverse=True)
        if each.relation != first.relation or each.key in keys or not _is_part(shorter, longer):
            break
        columns = longer
        keys.add(each.key)
        n += 1
    return 1 if first.relation == QUERY else n


def _is_part(shorter: Sequence[str], longer: Sequence[str]) -> bool:
    rest = iter(longer)
    return all(column in rest for column in shorter)


def _is_sorted(names: Sequence[str], values: Mapping[str, Sequence[str]]) -> bool:
    """Whether rows stand in the order of these columns."""
    columns = [
        [f"{value:>20}" for value in values[name]] if _is_number(name) else values[name]
        for name in names
    ]
    rows = list(zip(*columns, strict=True))
    return rows == sorted(rows)


def _is_number(name: str) -> bool:
    return name in NUMBERS or name.endswith("_no")


def _is_among(key: Key, values: Mapping[str, Sequence[str]], names: Sequence[str]) -> bool:
    return all(value in values[name] for name, value in key if name in names)


def _listed(names: Sequence[str], values: Mapping[str, Sequence[str]]) -> str:
    """The values of these columns, each once, row by row."""
    rows = dict.fromkeys(zip(*(values[name] for name in names), strict=True))
    return ", ".join(
        _together([_literal(*pair) for pair in zip(names, row, strict=True)]) for row in rows
    )


def _together(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def _shorter(table: Table, fixed: Sequence[str]) -> str:
    """The order of a table without columns that have one value."""
    order = table.order
    for name in fixed:
        column = rf"(?:list_position\(\[[^]]*\], {name}\)|{name})(?: desc)?(?: nulls last)?"
        order = re.sub(rf"(?:^|, ){column}(?=, |$)", "", order).removeprefix(", ")
    return order or table.order


def _literal(name: str, value: str) -> str:
    return value if _is_number(name) else literal(value)


NUMBERS = frozenset({"k", "rank", "no", "place"})
