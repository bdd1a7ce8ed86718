"""Read-only, locked-down connections: a query can neither read another file nor write one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from pipeline.errors import InputError, UsageError, did_you_mean
from pipeline.notebook import table
from pipeline.settings import WAREHOUSE_NAME

if TYPE_CHECKING:
    import polars
    import pyarrow

CATALOG = "warehouse"
QUESTIONS = (
    duckdb.StatementType.SELECT,
    duckdb.StatementType.EXPLAIN,
    duckdb.StatementType.MULTI,  # pivot
)
EXAMPLE = 'For example: blade sql "from runs"'
SHOWN = """
    select
        benchmark, run_id as run, model, n_tasks as tasks, n_scored as scored,
        n_expected as expected, pass_at_1 as 'pass@1', mean_reward
    from run_metrics order by benchmark, run_id
"""
WHOLE = """
    select block_size * total_blocks, (
        select count(*) from duckdb_tables() where database_name = $1
            and (schema_name, table_name) in (('raw', 'events'), ('main', 'runs'))
    )
    from pragma_database_size() where database_name = $1
"""
MAKE_ONE = "Make one with: blade analyze RESULTS, or name another with --warehouse."
# In this order: nothing can be set after the last.
LOCKED_DOWN = {
    # It would draw on stdout, which is for the answer.
    "enable_progress_bar": "false",
    # It fails on comparisons with what comes of a column that holds only nulls.
    "disabled_optimizers": "'statistics_propagation'",
    "temp_directory": "''",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "enable_external_access": "false",
    "lock_configuration": "true",
}


def half_of_memory() -> str:
    """Half of what the machine has."""
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') // 2 >> 20}MiB"


class Warehouse:
    """An opened warehouse. Results are Polars frames; Arrow on request."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def sql(self, query: str, parameters: list[Any] | None = None) -> polars.DataFrame:
        """The rows of a query as a Polars frame."""
        import polars

        return polars.DataFrame(self.arrow(query, parameters))

    def arrow(
        self, query: str, parameters: list[Any] | dict[str, Any] | None = None
    ) -> pyarrow.Table:
        """The rows of a query as an Arrow table."""
        with self.explained():
            self._refuse_commands(query)
            return self._connection.sql(query, params=parameters).to_arrow_table()

    def execute(
        self, query: str, parameters: list[Any] | dict[str, Any] | None = None
    ) -> duckdb.DuckDBPyConnection:
        """Run a query and leave its rows to be fetched, as the command line does."""
        with self.explained():
            self._refuse_commands(query)
            result = self._connection.execute(query, parameters)
            shown = [f"#{place}" for place, _ in enumerate(result.description or [], start=1)]
            for place, (name, kind, *_) in enumerate(result.description or []):
                # Python's own values of such times need a library that few have.
                if "TIME ZONE" in str(kind):
                    shown[place] += '::varchar as "{}"'.format(name.replace('"', '""'))
            if any("::" in column for column in shown):
                text = query.strip().removesuffix(";")
                again = f"select {', '.join(shown)} from ({text}\n)"
                result = self._connection.execute(again, parameters)
            return result

    def rows(self, query: str, *values: Any, **named: Any) -> list[dict[str, Any]]:
        """The rows of a query, each by column name; its values by place or by name."""
        result = self.execute(query, named or list(values))
        names = [column[0] for column in result.description or []]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

    def column(self, query: str, *values: Any) -> list[Any]:
        """The first column of a query."""
        return [row[0] for row in self.execute(query, list(values)).fetchall()]

    def copy(self, query: str, path: Path, options: str) -> int:
        """Write the rows of a query to a file, in the room that was opened for it; how many."""
        path.parent.mkdir(parents=True, exist_ok=True)
        statement = f"copy ({query}) to {quoted(path)} ({options})"
        with self.explained():
            try:
                ((n_rows,),) = self._connection.execute(statement).fetchall()
            except duckdb.IOException as error:
                hint = "Make room there, or choose another place with --out."
                raise InputError(f"{path}: cannot be written.", hint=hint) from error
        return int(n_rows)

    def _repr_html_(self) -> str:
        """What a notebook shows: the runs with their headline figures."""
        result = self._connection.execute(SHOWN)
        names = [column[0].replace("_", " ") for column in result.description or []]
        return table(names, result.fetchall())

    def cursor(self) -> Warehouse:
        """The same file for another thread, as locked down, with a query of its own to end."""
        return Warehouse(self._connection.cursor())

    def interrupt(self) -> None:
        """End the query that another thread is running."""
        self._connection.interrupt()

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def __enter__(self) -> Warehouse:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _refuse_commands(self, query: str) -> None:
        """Only questions: nothing is made, set or attached, not even in memory."""
        statements = self._connection.extract_statements(query)
        if not statements:
            raise UsageError("the query is empty.", hint=EXAMPLE)
        if len(statements) > 1:
            raise UsageError(
                f"{len(statements)} queries at once: only the last would be answered.",
                hint="Ask one at a time.",
            )
        if (kind := statements[0].type) not in QUESTIONS:
            raise UsageError(
                f"{kind.name} is refused: the warehouse is read-only.",
                hint="Ask with select, from, describe, show, summarize, pivot or explain.",
            )

    @contextmanager
    def explained(self) -> Iterator[None]:
        """A query that fails is the caller's to fix: say what is wrong and what there is."""
        try:
            yield
        except duckdb.OutOfMemoryException as error:
            raise UsageError(
                "the query needs more memory than it may take.",
                hint="Ask for less, or allow more with --memory-limit.",
            ) from error
        except duckdb.Error as error:
            # Without the place in the query, and without the engine's own guess: ours knows more.
            message = str(error).split("\n\n")[0].partition("\nDid you mean")[0].strip()
            raise UsageError(message, hint=self._suggestion(error)) from error

    def _suggestion(self, error: duckdb.Error) -> str:
        missing = re.search(r"(?:Table|View) with name (\S+) does not exist", str(error))
        if missing is None:
            column = re.search(r'column "([^"]+)" not found', str(error))
            candidates = re.findall(r'"([^"]+)"', str(error).partition("Candidate bindings:")[2])
            meant = did_you_mean(column[1], candidates, cutoff=0.5) if column else ""
            return f"{meant}List relations and columns with: blade sql --schema"
        rows = self._connection.execute(
            "select table_name from information_schema.tables "
            f"where table_schema = 'main' and table_catalog = '{CATALOG}'"
        ).fetchall()
        known = sorted(name for (name,) in rows)
        meant = did_you_mean(missing[1].strip('"'), known, cutoff=0.5)
        return f"{meant}Relations: {', '.join(known)}"


def open_warehouse(
    path: str | Path, *, memory_limit: str | None = None, room: Path | None = None
) -> Warehouse:
    """Open a warehouse that `blade analyze` wrote, read-only: the file, or its output folder.

    A query may take half of the machine's memory, unless the limit says otherwise. Where a room is
    named, that folder alone may be written to, and what exceeds the memory lies there.
    """
    connection = attached(Path(path))
    connection.execute(f"set memory_limit = '{memory_limit or half_of_memory()}'")
    connection.execute(f"use {CATALOG}; detach memory")
    lock_down(connection, room=room)
    return Warehouse(connection)


@contextmanager
def of_this_version(path: Path) -> Iterator[None]:
    """The questions are ours: where one has no answer, the warehouse is not of this version."""
    try:
        yield
    except (UsageError, duckdb.Error) as error:
        unknown = (duckdb.CatalogException, duckdb.BinderException)
        if not isinstance(error, unknown) and not isinstance(error.__cause__, unknown):
            raise
        raise InputError(
            f"{path}: does not hold what this version of blade asks of it.",
            hint="Analyze the results again.",
        ) from error


def warehouse_file(path: str | Path) -> Path:
    """The file itself, or that of an output folder."""
    path = Path(path)
    return path / WAREHOUSE_NAME if path.is_dir() else path


def attached(path: Path) -> duckdb.DuckDBPyConnection:
    """An engine of its own with the file attached, read-only.

    A path that was opened before may hold another file by now.
    """
    path = warehouse_file(path)
    if not path.is_file():
        raise InputError(f"{path}: no warehouse here.", hint=MAKE_ONE)
    connection = duckdb.connect(":memory:")
    with suppress(duckdb.Error):
        connection.execute(f"attach {quoted(path)} as {CATALOG} (read_only)")
        ((n_bytes, n_relations),) = connection.execute(WHOLE, [CATALOG]).fetchall()
        # All blocks that the file speaks of are there, and so are our relations.
        if path.stat().st_size >= n_bytes and n_relations == 2:
            return connection
    connection.close()
    raise InputError(f"{path}: cannot be opened as a warehouse of blade.", hint=MAKE_ONE)


def lock_down(connection: duckdb.DuckDBPyConnection, *, room: Path | None = None) -> None:
    """From here on nothing outside of the room can be read or written, and no setting changed."""
    settings = LOCKED_DOWN
    if room is not None:
        places = {"temp_directory": quoted(room / "spill")}
        places["allowed_directories"] = f"[{quoted(room)}]"
        settings = places | {k: v for k, v in LOCKED_DOWN.items() if k not in places}
    for name, value in settings.items():
        connection.execute(f"set {name} = {value}")


def quoted(path: Path) -> str:
    """A path as SQL has it."""
    return "'" + str(path).replace("'", "''") + "'"
