"""Run untrusted queries in a separate process that can be killed.

While DuckDB computes a single value, it checks neither its memory limit nor interrupts. So the
system limits the memory of the process, and at the time limit it is killed. Idle workers are
reused: a server starts DuckDB only once.
"""

from __future__ import annotations

import atexit
import io
import os
import pickle
import resource
import select
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import errors
from .errors import BladeError, InputError, TimeLimitError, UsageError
from .settings import warehouse_file
from .text import one_line

if TYPE_CHECKING:
    import duckdb
    import pyarrow

    from .warehouse import Warehouse

# A server runs this many queries at the same time; as many idle workers are kept.
MOST_WORKERS = 2
# How long a worker may take to start and to open a warehouse.
START_SECONDS = 60.0
# Rows are sent in messages of about this size, so that memory does not grow with the result.
MESSAGE_BYTES = 1 << 20
MOST_FETCHED = 1000
ARROW_ROWS = 100_000
# The largest result that a server reads.
MOST_BYTES = 32 << 20
# DuckDB was measured to allocate 1.2 times the memory that its own limit counts.
SLACK = 1.25
ALLOWANCE = 256 << 20
# A worker that has grown by this much since its start is replaced.
MOST_GROWTH = 128 << 20
# The code of a worker; its argument is the folder that this package is imported from.
START = f"import sys; sys.path.insert(0, sys.argv[1]); from {__name__} import work; work()"
FOLDER = Path(__file__).resolve().parents[__name__.count(".")]
# Types of values in rows that are not built in.
VALUE_CLASSES = {
    ("datetime", "date"),
    ("datetime", "datetime"),
    ("datetime", "time"),
    ("datetime", "timedelta"),
    ("datetime", "timezone"),
    ("decimal", "Decimal"),
    ("uuid", "SafeUUID"),
    ("uuid", "UUID"),
}


@dataclass(frozen=True)
class Bounds:
    """Limits and form of a result; by default all rows as Python values."""

    most_rows: int | None = None
    most_bytes: int | None = None
    # Count all rows if there are more than `most_rows`.
    is_counted: bool = False
    is_arrow: bool = False


EVERYTHING = Bounds()


class Answer:
    """The columns of a result, and an iterator over its rows."""

    def __init__(self, columns: list[tuple[str, str]], worker: Worker) -> None:
        self.names = [name for name, _ in columns]
        self.types = [kind for _, kind in columns]
        # Known after the last row: whether rows were left out, and the number of all rows.
        self.is_cut = False
        self.n_rows: int | None = None
        self._worker = worker

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        for rows in self._parts():
            yield from rows

    def table(self) -> pyarrow.Table:
        import pyarrow

        parts = [pyarrow.ipc.open_stream(part).read_all() for part in self._parts()]
        return pyarrow.concat_tables(parts)

    def _parts(self) -> Iterator[Any]:
        while True:
            kind, *content = self._worker.receive()
            if kind == "end":
                self.is_cut, self.n_rows = content
                return
            yield content[0]


@contextmanager
def ask(
    path: Path,
    query: str,
    *,
    seconds: float,
    memory_limit: str | None = None,
    bounds: Bounds = EVERYTHING,
) -> Iterator[Answer]:
    """Run one query on a warehouse; the time limit starts when the worker has opened the file."""
    worker = _idle_worker() or Worker()
    _busy_workers.add(worker)
    try:
        worker.send((str(path), _working_folder(), memory_limit, query, bounds))
        worker.receive()
        worker.set_time_limit(seconds)
        _, columns = worker.receive()
        yield Answer(columns, worker)
    finally:
        _busy_workers.discard(worker)
        if worker.is_idle:
            _keep(worker)
        else:
            worker.kill()


class Worker:
    """A process that runs one query after another, seen from the calling process."""

    def __init__(self) -> None:
        self.is_idle = False
        self._is_ended = False
        self._seconds: float | None = None
        self._deadline = time.monotonic() + START_SECONDS
        self._process = subprocess.Popen(
            # -P: no module is imported from the working folder.
            [sys.executable, "-P", "-c", START, str(FOLDER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            # Ctrl-C must reach only the calling process.
            start_new_session=True,
        )

    def set_time_limit(self, seconds: float) -> None:
        self._seconds = seconds
        self._deadline = time.monotonic() + seconds

    def send(self, request: Any) -> None:
        self.is_idle = False
        self._seconds = None
        self._deadline = time.monotonic() + START_SECONDS
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # the worker has died: receive reports why
            _write_message(self._process.stdin.fileno(), request)

    def receive(self) -> tuple[Any, ...]:
        """The next message; an error of the query is raised here."""
        n_bytes = int.from_bytes(self._read(8), "big")
        message: tuple[Any, ...] = _Unpickler(io.BytesIO(self._read(n_bytes))).load()
        kind, *content = message
        if kind == "end":
            *content, self.is_idle = content
            return kind, *content
        if kind == "error":
            name, text, hint, self.is_idle = content
            raise getattr(errors, name)(text, hint=hint)
        if kind == "bug":
            raise RuntimeError(f"in the query worker: {content[0]}")
        return message

    def _read(self, n_bytes: int) -> bytearray:
        assert self._process.stdout is not None
        stream = self._process.stdout.fileno()
        poll = select.poll()
        poll.register(stream, select.POLLIN)
        content = bytearray(n_bytes)
        rest = memoryview(content)
        while rest:
            seconds = self._deadline - time.monotonic()
            if seconds <= 0 or not poll.poll(seconds * 1000):
                raise self._time_error()
            n_read = os.readv(stream, [rest])
            if not n_read:
                raise self._death_error()
            rest = rest[n_read:]
        return content

    def _time_error(self) -> BladeError:
        if self._seconds is None:
            message = f"the query engine did not start within {START_SECONDS:.0f} s."
            return InputError(message, hint="Try again when the machine is less busy.")
        return TimeLimitError(
            f"the query took longer than {self._seconds:g} s and was stopped.",
            hint="Simplify it, or allow more time with: blade sql --timeout SECONDS",
        )

    def _death_error(self) -> BladeError:
        """Why the worker died, if it was not stopped by this process."""
        number = -self._process.wait()
        if self._is_ended:
            return UsageError("the query was stopped because the server is shutting down.")
        if number == signal.SIGKILL or errors.address_space_limit() is not None:
            return errors.memory_error(is_refused=True)
        reason = signal.Signals(number).name if number > 0 else f"exit code {-number}"
        if self._seconds is None:
            message = f"the query engine could not be started ({reason})."
            return InputError(
                message, hint="Check the installation with: python -c 'import duckdb'"
            )
        message = f"the query engine crashed on this query ({reason})."
        return UsageError(message, hint="Simplify the query, or write it in another way.")

    def end(self) -> None:
        """Stop the query; the thread that waits for it gets an error."""
        self._is_ended = True
        self._process.kill()

    def kill(self) -> None:
        self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._process.wait()


_busy_workers: set[Worker] = set()
_idle_workers: list[Worker] = []
_idle_lock = threading.Lock()


def _idle_worker() -> Worker | None:
    with _idle_lock:
        return _idle_workers.pop() if _idle_workers else None


def _keep(worker: Worker) -> None:
    with _idle_lock:
        if len(_idle_workers) < MOST_WORKERS:
            _idle_workers.append(worker)
            return
    worker.kill()


def end_queries() -> None:
    """Stop all running queries, before a server shuts down."""
    for worker in tuple(_busy_workers):
        worker.end()


@atexit.register
def _end_idle_workers() -> None:
    while worker := _idle_worker():
        worker.kill()


def _working_folder() -> str:
    with suppress(OSError):  # it may be gone
        return str(Path.cwd())
    return "/"


class _Unpickler(pickle.Unpickler):
    """Accept only plain values: the worker has run an untrusted query."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in VALUE_CLASSES:
            raise pickle.UnpicklingError(f"{module}.{name} is not a plain value")
        return super().find_class(module, name)


def _write_message(stream: int, message: Any) -> None:
    _write_frame(stream, pickle.dumps(message, protocol=5))


def _write_frame(stream: int, content: bytes) -> None:
    rest = memoryview(len(content).to_bytes(8, "big") + content)
    while rest:
        rest = rest[os.write(stream, rest) :]


# What follows runs in the worker.


def work() -> None:
    """Handle requests until the calling process is gone."""
    requests = os.dup(0)
    answers = os.dup(1)
    for stream in (0, 1):
        # Libraries must neither read requests nor print into the answers.
        os.dup2(os.open(os.devnull, os.O_RDWR), stream)
    threading.Thread(target=_end_with_parent, args=[requests], daemon=True).start()
    engine = Engine()
    with os.fdopen(requests, "rb") as file:
        while head := file.read(8):
            request = pickle.loads(file.read(int.from_bytes(head, "big")))
            engine.answer(answers, *request)
    os._exit(0)


def _end_with_parent(stream: int) -> None:
    poll = select.poll()
    poll.register(stream, 0)  # reports only a closed pipe
    poll.poll()
    os._exit(0)


class Engine:
    """The warehouse of the last query, opened and locked down."""

    def __init__(self) -> None:
        self._key: tuple[Any, ...] = ()
        self._warehouse: Warehouse | None = None
        self._n_bytes = 0

    def answer(
        self,
        stream: int,
        path: str,
        folder: str,
        memory_limit: str | None,
        query: str,
        bounds: Bounds,
    ) -> None:
        try:
            with suppress(OSError):
                os.chdir(folder)
            warehouse = self._open(Path(path), memory_limit)
            _write_message(stream, ("open",))
            with warehouse.cursor() as cursor:
                end = _send_result(stream, cursor, query, bounds)
            _write_message(stream, ("end", *end, self._is_reusable()))
        except BladeError as error:
            self._send_error(stream, error)
        except MemoryError:
            self._send_error(stream, errors.memory_error(is_refused=True))
        except Exception:
            _write_message(stream, ("bug", traceback.format_exc()))

    def _send_error(self, stream: int, error: BladeError) -> None:
        content = (type(error).__name__, str(error), error.hint)
        _write_message(stream, ("error", *content, self._is_reusable()))

    def _open(self, path: Path, memory_limit: str | None) -> Warehouse:
        from .warehouse import half_of_memory, open_warehouse, size_in_bytes

        file = warehouse_file(path).absolute()
        key: tuple[Any, ...] = (file, memory_limit)
        with suppress(OSError):
            status = file.stat()
            key += (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size)
        if self._warehouse is not None and self._key == key:
            return self._warehouse
        if self._warehouse is not None:
            self._warehouse.close()
        self._warehouse = None
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
        self._warehouse = open_warehouse(path, memory_limit=memory_limit)
        self._key = key
        self._n_bytes = _data_bytes()
        if self._n_bytes:
            limit = size_in_bytes(memory_limit or half_of_memory())
            most = self._n_bytes + int(limit * SLACK) + ALLOWANCE
            if hard == resource.RLIM_INFINITY or most < hard:
                # Not the address space: the C library reserves far more than it uses.
                resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
        return self._warehouse

    def _is_reusable(self) -> bool:
        return _data_bytes() <= self._n_bytes + MOST_GROWTH


def _data_bytes() -> int:
    """The writable memory of this process, which the limit counts; 0 if unknown."""
    with suppress(OSError), Path("/proc/self/status").open(encoding="ascii") as file:
        for line in file:
            if line.startswith("VmData:"):
                return int(line.split()[1]) << 10
    return 0


def _send_result(
    stream: int, warehouse: Warehouse, query: str, bounds: Bounds
) -> tuple[bool, int | None]:
    """Send columns and rows; returns whether rows are left out, and the number of all."""
    if bounds.is_arrow:
        _send_arrow(stream, warehouse, query)
        return False, None
    with warehouse.explained():
        result = warehouse.execute(query)
        _write_message(
            stream, ("columns", [(str(name), str(kind)) for name, kind, *_ in result.description])
        )
        n_rows, is_cut = _send_rows(stream, result, bounds)
    if not is_cut:
        return False, n_rows
    if not bounds.is_counted:
        return True, None
    try:
        text = query.strip().removesuffix(";")
        return True, warehouse.column(f"select count(*) from ({text}\n)")[0]
    except UsageError:
        return True, None  # such as explain


def _send_rows(stream: int, result: duckdb.DuckDBPyConnection, bounds: Bounds) -> tuple[int, bool]:
    """Send rows in messages of bounded size; returns how many, and whether there are more."""
    most_rows = sys.maxsize if bounds.most_rows is None else bounds.most_rows
    n_rows = n_bytes = 0
    n_fetched = 1
    while True:
        with _showing_values():
            rows = result.fetchmany(n_fetched)
        if not rows:
            return n_rows, False
        is_cut = n_rows + len(rows) > most_rows
        if is_cut:
            rows = rows[: most_rows - n_rows]
        with _showing_values():
            content = pickle.dumps(("rows", rows), protocol=5)
        n_bytes += len(content)
        if bounds.most_bytes is not None and n_bytes > bounds.most_bytes:
            if not n_rows:
                message = f"one row of the result has more than {bounds.most_bytes >> 20} MB."
                hint = "Shorten its texts, for example with: substr(text, 1, 1000)"
                raise UsageError(message, hint=hint)
            return n_rows, True
        _write_frame(stream, content)
        n_rows += len(rows)
        if is_cut:
            return n_rows, True
        fitting = n_fetched * MESSAGE_BYTES // max(1, len(content))
        n_fetched = max(1, min(4 * n_fetched, fitting, MOST_FETCHED))


@contextmanager
def _showing_values() -> Iterator[None]:
    """Turn errors of values that Python or the message cannot hold into messages."""
    try:
        yield
    except (ValueError, OverflowError, RecursionError, pickle.PicklingError) as error:
        message = f"a value cannot be shown ({one_line(str(error))})."
        raise UsageError(message, hint="Cast it to varchar.") from error


def _send_arrow(stream: int, warehouse: Warehouse, query: str) -> None:
    """Send each batch as an Arrow stream; the first one has only the schema."""
    import pyarrow

    with warehouse.explained():
        reader = warehouse.batches(query, ARROW_ROWS)
        names = [(name, "") for name in reader.schema.names]
        _write_message(stream, ("columns", names))
        no_batch: list[pyarrow.RecordBatch] = []
        for batches in chain([no_batch], ([batch] for batch in reader)):
            sink = io.BytesIO()
            with pyarrow.ipc.new_stream(sink, reader.schema) as writer:
                for batch in batches:
                    writer.write_batch(batch)
            _write_message(stream, ("rows", sink.getvalue()))
