"""Convert files of other harnesses to batches of canonical lines, in processes if they are large.

Small files are converted while they are loaded. Large ones are converted by processes into spool
files, a few files ahead of the load, so that neither waits for the other and memory holds at most
one batch of rows.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import subprocess
import sys
import zlib
from collections import defaultdict, deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pyarrow as pa

from ...artifact import Artifact, Kind
from ...files import reason_of
from .. import formats
from ..formats import gym
from .lines import LINES, SNIPPET_BYTES, FileTally, batch_of, record_id

BATCH_BYTES = 4 << 20
# Less is converted faster than a process starts.
WORTH_PROCESSES = 32 << 20
AHEAD = 2
# A sample of another harness may be much longer than a line of Gym; memory grows with it.
LONGEST_ROW = 128 << 20
WORKER = f"from {__name__} import work; work()"
# Other contents of a file go into the tables that sidecars of Gym fill.
TABLES = {
    formats.Figure: "raw.figures",
    formats.Setting: "raw.config_values",
    formats.Expected: "raw.expected_attempts",
}


@dataclass
class Converted:
    tally: FileTally = field(default_factory=FileTally)
    tables: dict[str, list[tuple[Any, ...]]] = field(default_factory=lambda: defaultdict(list))


@dataclass(frozen=True)
class Job:
    artifact: Artifact
    file_no: int
    spool: Path
    max_line_bytes: int


def batches(
    artifact: Artifact, file_no: int, into: Converted, *, max_line_bytes: int
) -> Iterator[pa.RecordBatch]:
    """The canonical lines of a file, with their ids and faults."""
    waiting: list[tuple[int, str, str | None]] = []
    n_bytes = 0
    for line in _lines(artifact, file_no, into, max_line_bytes):
        waiting.append(line)
        n_bytes += len(line[1])
        if n_bytes >= BATCH_BYTES:
            yield batch_of(waiting)
            waiting, n_bytes = [], 0
    if waiting:
        yield batch_of(waiting)


def _lines(
    artifact: Artifact, file_no: int, into: Converted, max_line_bytes: int
) -> Iterator[tuple[int, str, str | None]]:
    """Rows and rejects as lines; other contents are added to `into`."""
    tally = into.tally
    tally.n_bytes = artifact.n_bytes
    for reading in _readings(artifact, tally):
        if isinstance(reading, (formats.Figure, formats.Setting, formats.Expected)):
            # Names come from untrusted files.
            values = (
                gym.encodable(one) if isinstance(one, str) else one
                for one in vars(reading).values()
            )
            into.tables[TABLES[type(reading)]].append((file_no, *values))
            continue
        tally.n_lines += 1
        line_id = record_id(file_no, tally.n_lines)
        if isinstance(reading, formats.Line):
            tally.n_blank += 1
        elif isinstance(reading, formats.Reject):
            snippet = gym.encodable(reading.snippet)[:SNIPPET_BYTES]
            yield line_id, snippet, gym.encodable(reading.reason)
        elif len(line := _line(reading)) > max_line_bytes:
            fault = f"row is longer than {max_line_bytes} bytes"
            yield line_id, line[:SNIPPET_BYTES], fault
        else:
            yield line_id, line, None


def _line(row: formats.Row) -> str:
    own = {name: getattr(row, name) for name in gym.ADDED_NAMES}
    value = {
        **row.value,
        gym.ADDED_FIELD: {name: value_of for name, value_of in own.items() if value_of},
    }
    return gym.encodable(formats.as_json(value), mark="\\\\u")


def rows(artifact: Artifact) -> Iterator[str]:
    """The rows of a file as lines in the format of Gym; everything else is left out."""
    for reading in _readings(artifact, FileTally()):
        if isinstance(reading, formats.Row):
            yield _line(reading)


def _readings(artifact: Artifact, tally: FileTally) -> Iterator[formats.Reading]:
    """What the format reads from a file; if the file is damaged, the last item is a reject."""
    assert artifact.format is not None
    try:
        with artifact.path.open("rb") as file:
            tally.sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        yield from formats.modules()[artifact.format].read(artifact)
    except (OSError, EOFError) as error:
        yield formats.Reject(reason_of(error))
    except (ValueError, RecursionError, zlib.error) as error:
        yield formats.Reject(str(error))
    # Documents without rows have no lines.
    tally.is_counted = artifact.kind is Kind.ROLLOUTS or tally.n_lines > 0


def spooled(
    files: list[tuple[int, Artifact]], folder: Path, n_processes: int, *, max_line_bytes: int
) -> Iterator[tuple[int, Converted, Iterator[pa.RecordBatch]]]:
    """Each file with its contents, in order; converted in this process, or by others."""
    n_bytes = sum(artifact.n_bytes for _, artifact in files)
    if min(n_processes, len(files)) < 2 or n_bytes < WORTH_PROCESSES or not sys.executable:
        for file_no, artifact in files:
            into = Converted()
            yield file_no, into, batches(artifact, file_no, into, max_line_bytes=max_line_bytes)
        return
    folder.mkdir(parents=True, exist_ok=True)
    jobs = deque(
        Job(artifact, file_no, folder / f"{file_no}.arrow", max_line_bytes)
        for file_no, artifact in files
    )
    idle: SimpleQueue[_Worker] = SimpleQueue()
    workers = [_Worker() for _ in range(min(n_processes, len(files)))]
    for worker in workers:
        idle.put(worker)

    def convert(job: Job) -> Converted:
        worker = idle.get()
        try:
            return worker.converted(job)
        finally:
            idle.put(worker)

    threads = ThreadPoolExecutor(len(workers))
    running: deque[Any] = deque()
    try:
        while jobs or running:
            while jobs and len(running) < len(workers) + AHEAD:
                running.append((jobs[0], threads.submit(convert, jobs.popleft())))
            job, future = running.popleft()
            yield job.file_no, future.result(), _read_spool(job.spool)
            job.spool.unlink(missing_ok=True)
    finally:
        # If the loop was left early, do not wait.
        threads.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.end()


def _read_spool(path: Path) -> Iterator[pa.RecordBatch]:
    if path.exists():
        with pa.memory_map(os.fsencode(path)) as source, pa.ipc.open_stream(source) as stream:
            yield from stream


class _Worker:
    """A process that converts one file after another."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None

    def converted(self, job: Job) -> Converted:
        """Convert a file; if the process dies, the file becomes one reject."""
        if self.process is None:
            paths = os.pathsep.join(path for path in sys.path if path)
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", WORKER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # Ctrl-C must not reach it: it would print a traceback.
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": paths},
            )
        pipe, answer = self.process.stdin, self.process.stdout
        assert pipe is not None and answer is not None
        try:
            pickle.dump(job, pipe)
            pipe.flush()
            converted = pickle.load(answer)
            assert isinstance(converted, Converted)
            return converted
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            self.end()
            tally = FileTally(n_bytes=job.artifact.n_bytes, n_lines=1)
            fault = "the reading process was killed, perhaps because memory ran out"
            _write_spool(job.spool, iter([batch_of([(record_id(job.file_no, 1), "", fault)])]))
            return Converted(tally)

    def end(self) -> None:
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError):  # buffered input has no reader
                    if pipe is not None:
                        pipe.close()


def work() -> None:
    """Run in the process: read jobs from stdin, write answers to stdout, until the input ends."""
    answer = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    while True:
        try:
            job = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        into = Converted()
        lines = batches(job.artifact, job.file_no, into, max_line_bytes=job.max_line_bytes)
        _write_spool(job.spool, lines)
        pickle.dump(into, answer)
        answer.flush()


def _write_spool(path: Path, lines: Iterator[pa.RecordBatch]) -> None:
    with pa.OSFile(os.fsencode(path), "wb") as sink, pa.ipc.new_stream(sink, LINES) as stream:
        for batch in lines:
            stream.write_batch(batch)
