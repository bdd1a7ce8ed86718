"""The warehouse of the pages: a read-only connection, opened again when the file is replaced."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from ..errors import BladeError, UsageError
from ..files import read_queries, stamp
from ..text import one_line
from ..warehouse import Warehouse, of_this_version, open_warehouse

if TYPE_CHECKING:
    from .labels import LabelFile

# A row by its columns, and a page by the names in its template.
Row = dict[str, Any]
Page = dict[str, Any]
Value = TypeVar("Value")
QUERIES = read_queries("view/explorer")
LARGEST_PAGE = 1_000_000
MOST_ROWS = 500
MOST_CACHED = 40


class AbsentError(UsageError):
    """The requested run, task, rollout or page is not in the warehouse."""


class Opened:
    """A cursor for one request, the labels, and a cache that is valid until the file changes."""

    def __init__(self, warehouse: Warehouse, labels: LabelFile, cache: dict[Any, Any]) -> None:
        self.warehouse, self.labels = warehouse, labels
        self._cache = cache

    def rows(self, name: str, **values: Any) -> list[Row]:
        """The rows of a query of sql/queries/view/explorer.sql, as dicts."""
        return self.warehouse.rows(QUERIES[name], **values)

    def table(self, name: str, **values: Any) -> pa.Table:
        """The rows as an Arrow table: for many rows, of which few are shown."""
        return self.warehouse.arrow(QUERIES[name], values)

    def one(self, name: str, what: str, **values: Any) -> Row:
        """The only row; AbsentError if there is none. `what` is its name in messages."""
        rows = self.rows(name, **values)
        if not rows:
            hint = "It may have been replaced by another analysis."
            raise AbsentError(f"{one_line(what)}: not in this warehouse.", hint=hint)
        return rows[0]

    def benchmark(self, query: Mapping[str, str]) -> tuple[str, list[Row]]:
        """The benchmark of an address, else the first; and all of them."""
        rows = self.cached("benchmarks", lambda: self.rows("benchmarks"))
        known = [row["benchmark"] for row in rows]
        benchmark = query.get("benchmark") or next(iter(known), "")
        if benchmark and benchmark not in known:
            raise AbsentError(f"{benchmark}: no such benchmark.", hint="The first page lists them.")
        return benchmark, rows

    def cached(self, key: Any, make: Callable[[], Value]) -> Value:
        """A value from the cache, else from `make`; the oldest values are dropped."""
        value: Value = self._cache[key] if key in self._cache else make()
        if key not in self._cache:
            self._cache[key] = value
            for old in list(self._cache)[:-MOST_CACHED]:
                self._cache.pop(old, None)
        return value


class Followed:
    """Opens the file again when it is replaced; running requests finish on the old one."""

    def __init__(self, path: Path, labels: LabelFile, *, memory_limit: str | None = None) -> None:
        self.path, self.labels = path, labels
        self._memory_limit = memory_limit
        self._lock = threading.Lock()
        self.stamp = stamp(path)
        self._warehouse = open_warehouse(path, memory_limit=memory_limit)
        self._cache: dict[Any, Any] = {}

    @contextmanager
    def opened(self) -> Iterator[Opened]:
        """The warehouse for one request."""
        with self._lock:
            self._follow()
            opened = Opened(self._warehouse.cursor(), self.labels, self._cache)
        with opened.warehouse, of_this_version(self.path):
            yield opened

    def _follow(self) -> None:
        now = stamp(self.path)
        if now in (self.stamp, None):
            return
        try:
            self._warehouse = open_warehouse(self.path, memory_limit=self._memory_limit)
        except BladeError:
            return  # incomplete or not a warehouse: keep the old one
        self.stamp, self._cache = now, {}


def paged(n: int, rows: int, number: str | None) -> tuple[int, int]:
    """The page of a list of `n` by its number, at most the last, and how many pages there are."""
    n_pages = max(1, -(-n // rows))
    return min(page_no(number), n_pages), n_pages


def rows_of(query: Mapping[str, str], rows: int) -> int:
    """How many rows a page of a list has, if the address does not say."""
    return min(page_no(query.get("rows") or str(rows)), MOST_ROWS)


def page_no(text: str | None) -> int:
    """The number of a page, from 1; 1 if the text is not a number."""
    digits = (text or "")[:10]
    is_number = digits.isascii() and digits.isdigit()
    return min(max(int(digits), 1), LARGEST_PAGE) if is_number else 1
