"""Read-only, locked-down connections: a query can neither read nor write other files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from ..errors import InputError, UsageError, did_you_mean, memory_error
from ..notebook import table
from ..settings import EVENTS_FILE, EVENTS_FOLDER, OUTPUT_VARIABLE, warehouse_file

if TYPE_CHECKING:
    import polars
    import pyarrow

CATALOG = "warehouse"
ALLOWED_STATEMENTS = (
    duckdb.StatementType.SELECT,
    duckdb.StatementType.EXPLAIN,
    duckdb.StatementType.MULTI,  # pivot
)
REFUSED = "is refused: the warehouse is read-only."
ALLOWED_HINT = "Use select, from, describe, show, summarize, pivot or explain."
# Words after `explain`, and the first words of its options in parentheses.
EXPLAIN_WORDS = ("analyze", "analyse", "verbose")
EXPLAIN_OPTIONS = (*EXPLAIN_WORDS, "format")
# Errors of allocations that the system refused, as opposed to DuckDB's own limit.
REFUSED_BY_SYSTEM = re.compile("bad allocation|Allocation failure|Cannot allocate memory")
EXAMPLE = 'For example: blade sql "from runs"'
HEADLINES = """
    select
        benchmark,
        run_id as run,
        model,
        n_tasks as tasks,
        n_scored as scored,
        n_expected as expected,
        pass_at_1 as 'pass@1',
        mean_reward
    from run_metrics
    order by benchmark, run_id
"""
COMPLETE = """
    select
        -- Of free blocks those at the end are counted, but not in the file.
        block_size * used_blocks as n_bytes,
        (
            select count(*)
            from duckdb_tables()
            where
                database_name = $1
                and (schema_name, table_name) in (
                    ('raw', 'events'),
                    ('raw', 'inserted_events'), -- where raw.events is a view
                    ('main', 'runs')
                )
        ) as n_relations
    from pragma_database_size()
    where database_name = $1
"""
ANALYZE_HINT = "Create one with: blade analyze RESULTS, or name another with --warehouse."
# In this order: the last one locks all settings.
LOCKED_DOWN = {
    # It would be drawn on stdout, which is for results.
    "enable_progress_bar": "false",
    # This optimizer fails on comparisons with columns that contain only nulls.
    "disabled_optimizers": "'statistics_propagation'",
    "temp_directory": "''",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "enable_external_access": "false",
    "lock_configuration": "true",
}


def half_of_memory() -> str:
    """Half of the machine's memory."""
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') // 2 >> 20}MiB"


def size_in_bytes(size: str) -> int:
    """A size in bytes: 4GB has powers of 1000, 4GiB of 1024."""
    match = re.fullmatch(r"([\d.]+) ?([KMGT])(i?)B", size, re.IGNORECASE)
    assert match is not None
    number, unit, binary = match.groups()
    power = "KMGT".index(unit.upper()) + 1
    return int(float(number) * (1024 if binary else 1000) ** power)


def shared_memory(memory_limit: str | None, n_queries: int) -> str:
    """The memory limit of each of several concurrent queries."""
    return f"{size_in_bytes(memory_limit or half_of_memory()) // n_queries >> 20}MiB"


class Warehouse:
    """An open warehouse. Results are Polars frames, or Arrow tables."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        *,
        path: Path | None = None,
        memory_limit: str | None = None,
        output: Path | None = None,
    ) -> None:
        self._connection = connection
        self._output = output
        # For queries that run in another process.
        self.path = path
        self.memory_limit = memory_limit

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

    def batches(self, query: str, n_rows: int) -> pyarrow.RecordBatchReader:
        """The rows of a query in batches of `n_rows`."""
        with self.explained():
            self._refuse_commands(query)
            return self._connection.sql(query).to_arrow_reader(n_rows)

    def execute(
        self, query: str, parameters: list[Any] | dict[str, Any] | None = None
    ) -> duckdb.DuckDBPyConnection:
        """Run a query; the caller fetches its rows."""
        with self.explained():
            self._refuse_commands(query)
            result = self._connection.execute(query, parameters)
            shown = [f"#{place}" for place, _ in enumerate(result.description or [], start=1)]
            for place, (name, kind, *_) in enumerate(result.description or []):
                # DuckDB needs pytz, which few have installed, for Python values of these types.
                if "TIME ZONE" in str(kind) or "TIMESTAMPTZ" in str(kind):
                    shown[place] += '::varchar as "{}"'.format(name.replace('"', '""'))
            if any("::" in column for column in shown):
                text = query.strip().removesuffix(";")
                again = f"select {', '.join(shown)} from ({text}\n)"
                result = self._connection.execute(again, parameters)
            return result

    def rows(self, query: str, *values: Any, **named: Any) -> list[dict[str, Any]]:
        """The rows of a query as dicts; its parameters by position or by name."""
        result = self.execute(query, named or list(values))
        names = [column[0] for column in result.description or []]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

    def column(self, query: str, *values: Any) -> list[Any]:
        """The first column of a query."""
        return [row[0] for row in self.execute(query, list(values)).fetchall()]

    def copy(self, query: str, path: Path, options: str, *values: Any) -> int:
        """Write the rows of a query to a file in the writable folder; returns their number."""
        path.parent.mkdir(parents=True, exist_ok=True)
        statement = f"copy ({query}) to {quoted(path)} ({options})"
        with self.explained():
            try:
                ((n_rows,),) = self._connection.execute(statement, list(values)).fetchall()
            except duckdb.IOException as error:
                hint = "Free disk space there, or choose another folder with --out."
                raise InputError(f"{path}: cannot be written.", hint=hint) from error
        return int(n_rows)

    def _repr_html_(self) -> str:
        """The runs and their headline figures, for notebooks."""
        result = self._connection.execute(HEADLINES)
        names = [column[0].replace("_", " ") for column in result.description or []]
        return table(names, result.fetchall())

    def cursor(self) -> Warehouse:
        """A connection to the same warehouse for another thread."""
        cursor = self._connection.cursor()
        if self._output is not None:
            set_output(cursor, self._output)
        return Warehouse(
            cursor, path=self.path, memory_limit=self.memory_limit, output=self._output
        )

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Warehouse:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _refuse_commands(self, query: str) -> None:
        """Allow only queries: nothing is created, set or attached, not even in memory."""
        statements = self._connection.extract_statements(query)
        if not statements:
            raise UsageError("the query is empty.", hint=EXAMPLE)
        if len(statements) > 1:
            raise UsageError(
                f"{len(statements)} queries at once: only the last would be answered.",
                hint="Run one at a time.",
            )
        try:
            kind = statements[0].type
        except ValueError as error:
            # DuckDB's Python module does not know the type of `update extensions`.
            raise UsageError(f"the statement {REFUSED}", hint=ALLOWED_HINT) from error
        if kind not in ALLOWED_STATEMENTS:
            raise UsageError(f"{kind.name} {REFUSED}", hint=ALLOWED_HINT)
        if kind == duckdb.StatementType.EXPLAIN:
            # `explain analyze` runs the query.
            self._refuse_commands(_explained_statement(statements[0].query))

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn errors of a query into messages with suggestions."""
        try:
            yield
        except duckdb.OutOfMemoryException as error:
            is_refused = REFUSED_BY_SYSTEM.search(str(error)) is not None
            raise memory_error(is_refused=is_refused) from error
        except MemoryError as error:
            raise memory_error(is_refused=True) from error
        except duckdb.Error as error:
            if missing := _missing_events(error):
                raise missing from error
            # Without the position in the query and without DuckDB's own suggestion.
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
    path: str | Path, *, memory_limit: str | None = None, writable_folder: Path | None = None
) -> Warehouse:
    """Open a warehouse that `blade analyze` wrote, read-only: the file, or its output folder.

    The default memory limit is half of the machine's memory. If a writable folder is named, queries
    may write to it, and it holds what exceeds the memory.
    """
    connection = attached(Path(path))
    connection.execute(f"set memory_limit = '{memory_limit or half_of_memory()}'")
    connection.execute(f"use {CATALOG}; detach memory")
    lock_down(connection, writable_folder=writable_folder)
    return Warehouse(
        connection,
        path=Path(path),
        memory_limit=memory_limit,
        output=output_folder(Path(path)),
    )


def _explained_statement(query: str) -> str:
    """The statement after `explain` and its options; DuckDB's tokenizer finds comments."""
    text = query.encode()
    tokens = duckdb.tokenize(query)
    ends = [*(start for start, _ in tokens[1:]), len(text)]
    words = [
        (text[start:end].decode(errors="replace").strip().lower(), start)
        for (start, kind), end in zip(tokens, ends, strict=True)
        if kind != duckdb.token_type.comment
    ]
    place = 1
    while words[place][0] in EXPLAIN_WORDS:
        place += 1
    if words[place][0] == "(" and words[place + 1][0] in EXPLAIN_OPTIONS:
        while words[place][0] != ")":
            place += 1
        place += 1
    return text[words[place][1] :].decode()


@contextmanager
def of_this_version(path: Path) -> Iterator[None]:
    """If a query of blade itself fails to bind, the warehouse is of another version."""
    try:
        yield
    except (UsageError, duckdb.Error) as error:
        if missing := _missing_events(error):
            raise missing from error
        unknown = (duckdb.CatalogException, duckdb.BinderException)
        if not isinstance(error, unknown) and not isinstance(error.__cause__, unknown):
            raise
        raise InputError(
            f"{path}: was written by another version of blade.",
            hint="Analyze the results again.",
        ) from error


def attached(path: Path) -> duckdb.DuckDBPyConnection:
    """A new DuckDB instance with the file attached, read-only.

    A shared instance could still show an older file that had this path.
    """
    path = warehouse_file(path)
    if not path.is_file():
        raise InputError(f"{path}: no warehouse here.", hint=ANALYZE_HINT)
    connection = duckdb.connect(":memory:")
    try:
        connection.execute(f"attach {quoted(path)} as {CATALOG} (read_only)")
        ((n_bytes, n_relations),) = connection.execute(COMPLETE, [CATALOG]).fetchall()
        # The file has all blocks that it uses, and relations of blade.
        if path.stat().st_size >= n_bytes and n_relations == 2:
            _allow_events(connection, output_folder(path))
            return connection
    except (duckdb.OutOfMemoryException, MemoryError) as error:
        connection.close()
        raise memory_error(is_refused=True) from error
    except duckdb.Error:
        pass  # not a warehouse, or incomplete
    connection.close()
    raise InputError(f"{path}: cannot be opened as a warehouse of blade.", hint=ANALYZE_HINT)


def output_folder(warehouse: Path) -> Path:
    """The folder of a warehouse, which may have its events beside it; a link may lead there."""
    path = warehouse_file(warehouse).absolute()
    return path.parent if (path.parent / EVENTS_FOLDER).is_dir() else path.resolve().parent


def set_output(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Say where the events of the warehouse are; each connection has to know."""
    connection.execute(f"set variable {OUTPUT_VARIABLE} = {quoted(folder.absolute())} || '/'")


def _allow_events(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Allow queries to read the files of events beside the warehouse, and no others."""
    set_output(connection, folder)
    events, inside = folder / EVENTS_FOLDER, folder.resolve()
    allowed: list[str] = []
    with suppress(OSError):  # no such folder
        # While an output is replaced, its files are links to others in it.
        allowed += sorted(
            quoted(path)
            for path in events.iterdir()
            if EVENTS_FILE.fullmatch(path.name)
            and (not path.is_symlink() or path.resolve().is_relative_to(inside))
        )
    if allowed:
        connection.execute(f"set allowed_paths = [{', '.join(allowed)}]")


def _missing_events(error: Exception) -> InputError | None:
    """The message for a warehouse that was copied without its events, or without some of them."""
    match = re.search(rf'"([^"]*{EVENTS_FOLDER})/{EVENTS_FILE.pattern}"', str(error))
    if match is None:
        return None
    return InputError(
        f"{match[1]}: not all events of this warehouse are there.",
        hint=f"Copy the folder {EVENTS_FOLDER} together with the warehouse, or analyze again.",
    )


def lock_down(
    connection: duckdb.DuckDBPyConnection, *, writable_folder: Path | None = None
) -> None:
    """Forbid access to files outside the writable folder, and changes of settings."""
    settings = LOCKED_DOWN
    if writable_folder is not None:
        places = {"temp_directory": quoted(writable_folder / "spill")}
        places["allowed_directories"] = f"[{quoted(writable_folder)}]"
        settings = places | {k: v for k, v in LOCKED_DOWN.items() if k not in places}
    for name, value in settings.items():
        connection.execute(f"set {name} = {value}")


def quoted(path: Path) -> str:
    """A path as a SQL literal."""
    return "'" + str(path).replace("'", "''") + "'"
