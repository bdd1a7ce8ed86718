"""The warehouse behind the pages: one read-only connection, followed when the file is replaced."""

from __future__ import annotations

import threading
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from pipeline.errors import BladeError, UsageError
from pipeline.text import one_line
from pipeline.warehouse import Warehouse, of_this_version, open_warehouse

# A row by its columns, and a page by what its template names.
Row = dict[str, Any]
Page = dict[str, Any]
Made = TypeVar("Made")
Stamp = tuple[int, ...]
QUERIES: dict[str, str] = tomllib.loads(
    Path(__file__).with_name("queries.toml").read_text(encoding="utf-8")
)
LARGEST_PAGE, MOST_KEPT = 1_000_000, 40


class AbsentError(UsageError):
    """What was asked for is not in the warehouse."""


class Opened:
    """A cursor for one request, and what is kept as long as the file stays the same."""

    def __init__(self, warehouse: Warehouse, kept: dict[Any, Any]) -> None:
        self.warehouse = warehouse
        self._kept = kept

    def rows(self, name: str, **values: Any) -> list[Row]:
        """The rows of a query of ours, each by column name."""
        return self.warehouse.rows(QUERIES[name], **values)

    def table(self, name: str, **values: Any) -> pa.Table:
        """The same held together: many rows, of which few are shown."""
        return self.warehouse.arrow(QUERIES[name], values)

    def one(self, name: str, what: str, **values: Any) -> Row:
        """The only row; AbsentError says what is not there."""
        found = self.rows(name, **values)
        if not found:
            hint = "It may have been replaced by another analysis."
            raise AbsentError(f"{one_line(what)}: not in this warehouse.", hint=hint)
        return found[0]

    def keep(self, key: Any, make: Callable[[], Made]) -> Made:
        """Made once for as long as the file stays the same; the oldest makes room."""
        made: Made = self._kept[key] if key in self._kept else make()
        if key not in self._kept:
            self._kept[key] = made
            for old in list(self._kept)[:-MOST_KEPT]:
                self._kept.pop(old, None)
        return made


class Followed:
    """Opens the file anew where another has taken its place; requests on the way end on the old."""

    def __init__(self, path: Path, *, memory_limit: str | None = None) -> None:
        self.path = path
        self._memory_limit = memory_limit
        self._lock = threading.Lock()
        self.stamp = stamp(path)
        self._warehouse = open_warehouse(path, memory_limit=memory_limit)
        self._kept: dict[Any, Any] = {}

    @contextmanager
    def opened(self) -> Iterator[Opened]:
        """For one request, on its own thread."""
        with self._lock:
            self._follow()
            asked = Opened(self._warehouse.cursor(), self._kept)
        with asked.warehouse, of_this_version(self.path):
            yield asked

    def _follow(self) -> None:
        now = stamp(self.path)
        if now in (self.stamp, None):
            return
        try:
            self._warehouse = open_warehouse(self.path, memory_limit=self._memory_limit)
        except BladeError:
            return  # not whole, or not ours: the one that was opened still answers
        self.stamp, self._kept = now, {}


def stamp(path: Path) -> Stamp | None:
    """Which file it is; none while there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size


def page_no(asked: str | None) -> int:
    """The number of a page, from 1; the first where it is none."""
    digits = (asked or "")[:10]
    is_number = digits.isascii() and digits.isdigit()
    return min(max(int(digits), 1), LARGEST_PAGE) if is_number else 1
