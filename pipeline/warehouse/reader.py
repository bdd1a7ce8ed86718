"""Read-only, locked-down connections: a query can neither read another file nor write one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import duckdb

from pipeline.errors import InputError, UsageError

if TYPE_CHECKING:
    import polars
    import pyarrow

LOCKED_DOWN: dict[str, Any] = {
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "lock_configuration": True,
}


class Warehouse:
    """An opened warehouse. Results are Polars frames; Arrow on request."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def sql(self, query: str, parameters: list[Any] | None = None) -> polars.DataFrame:
        """The rows of a query as a Polars frame."""
        import polars

        frame = polars.from_arrow(self.arrow(query, parameters))
        assert isinstance(frame, polars.DataFrame)
        return frame

    def arrow(self, query: str, parameters: list[Any] | None = None) -> pyarrow.Table:
        """The rows of a query as an Arrow table."""
        with self._explained():
            return self._connection.sql(query, params=parameters).to_arrow_table()

    def execute(self, query: str, parameters: list[Any] | None = None) -> duckdb.DuckDBPyConnection:
        """Run a query and leave its rows to be fetched, as the command line does."""
        with self._explained():
            return self._connection.execute(query, parameters)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def __enter__(self) -> Warehouse:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """A query that fails is the caller's to mend: say what is wrong and what there is."""
        try:
            yield
        except duckdb.Error as error:
            raise UsageError(_first_paragraph(str(error)), hint=self._suggestion(error)) from error

    def _suggestion(self, error: duckdb.Error) -> str:
        missing = re.search(r"(?:Table|View) with name (\S+) does not exist", str(error))
        if missing is None:
            return "List relations and columns with: blade sql --schema"
        rows = self._connection.execute(
            "select table_name from information_schema.tables where table_schema = 'main'"
        ).fetchall()
        known = sorted(name for (name,) in rows)
        close = difflib.get_close_matches(missing[1].strip('"'), known, n=1, cutoff=0.5)
        meant = f"Did you mean {close[0]}? " if close else ""
        return f"{meant}Relations: {', '.join(known)}"


def open_warehouse(path: str | Path) -> Warehouse:
    """Open a warehouse file that `blade analyze` wrote, read-only."""
    path = Path(path)
    if not path.is_file():
        raise InputError(
            f"{path}: no warehouse here.", hint="Make one with: blade analyze RESULTS --out DIR"
        )
    try:
        return Warehouse(duckdb.connect(str(path), read_only=True, config=LOCKED_DOWN))
    except duckdb.Error as error:
        raise InputError(
            f"{path}: cannot be opened as a warehouse.",
            hint="Make it anew with: blade analyze RESULTS --out DIR",
        ) from error


def _first_paragraph(message: str) -> str:
    return message.split("\n\n")[0].strip()
