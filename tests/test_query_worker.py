"""Queries run in a process with limits of its own: one value cannot take all time or memory."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from pipeline import query_worker
from pipeline.errors import InputError, MemoryLimitError, TimeLimitError, UsageError
from pipeline.query_worker import Bounds, ask
from tests.results import BLADE, blade, call
from tests.viewed import viewed

# The engine looks at neither interrupts nor its memory limit while it computes each of these.
ENDLESS = "select levenshtein(repeat('a', 200000), repeat('b', 200000))"
LARGE = {
    "text": "select len(repeat('a', 4000000000))",
    "list": "select len(range(2000000000))",
    "rows": "select count(*) from (select unnest(range(200000000)))",
    "set": "select len(list_distinct(range(200000000)))",
}
SMALL = "300MB"


def rows(path: Path, query: str, *, seconds: float = 30, **bounds: Any) -> list[tuple[Any, ...]]:
    """All rows of a query."""
    with ask(path, query, seconds=seconds, memory_limit=SMALL, bounds=Bounds(**bounds)) as answer:
        return list(answer)


@pytest.fixture
def new_workers() -> Iterator[None]:
    """No worker is used that an earlier test has left."""
    query_worker._end_idle_workers()
    yield
    query_worker._end_idle_workers()


@pytest.mark.parametrize("query", LARGE.values(), ids=LARGE)
def test_one_value_cannot_exceed_the_memory_limit(demo: Path, query: str) -> None:
    """Values of 2 to 16 GB are refused where 300 MB are allowed."""
    with pytest.raises(MemoryLimitError, match="needs more memory than its limit") as refused:
        rows(demo, query)
    assert "--memory-limit" in refused.value.hint
    assert rows(demo, "select 7") == [(7,)]


def test_every_use_of_sql_has_the_limits(demo: Path) -> None:
    """The command says so with exit code 2 and no traceback, and the next query is answered."""
    began = time.monotonic()
    ended = call("sql", ENDLESS, "--timeout", "0.3", "--warehouse", demo)
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr.startswith("blade: the query took longer than 0.3 s and was stopped.\n")
    assert "--timeout" in ended.stderr and time.monotonic() - began < 20
    large = call("sql", LARGE["text"], "--memory-limit", SMALL, "--warehouse", demo)
    assert large.code == 2 and "the query needs more memory than its limit allows" in large.stderr
    assert "--memory-limit" in large.stderr
    assert rows(demo, "select 7") == [(7,)]


@pytest.mark.usefixtures("new_workers")
def test_a_worker_is_used_again(demo: Path) -> None:
    """After an answer or an error of the query; one that was killed is replaced."""
    numbers = []
    for query in ("select 1", "from no_table", "select 2"):
        with suppress(UsageError), ask(demo, query, seconds=30) as answer:
            list(answer)
        (worker,) = query_worker._idle_workers
        numbers.append(worker._process.pid)
    assert len({*numbers}) == 1
    with pytest.raises(TimeLimitError):
        rows(demo, ENDLESS, seconds=0.1)
    assert query_worker._idle_workers == []
    with pytest.raises(ProcessLookupError):
        os.kill(numbers[0], 0)


@pytest.mark.usefixtures("new_workers")
def test_rows_that_nobody_reads_end_the_query(demo: Path) -> None:
    """A reader may leave early."""
    with ask(demo, "from range(1000000000)", seconds=60) as answer:
        assert next(iter(answer)) == (0,)
    assert query_worker._idle_workers == []


def test_results_are_bounded(demo: Path) -> None:
    """By rows, by bytes, and a row that is too long alone is refused; all rows are counted."""
    bounds = Bounds(most_rows=3, is_counted=True)
    with ask(demo, "from range(10);", seconds=30, bounds=bounds) as answer:
        assert (list(answer), answer.is_cut, answer.n_rows) == ([(0,), (1,), (2,)], True, 10)
    with ask(demo, "from range(3)", seconds=30, bounds=bounds) as answer:
        assert (list(answer), answer.is_cut, answer.n_rows) == ([(0,), (1,), (2,)], False, 3)
    assert len(rows(demo, "select repeat('x', 600) from range(9)", most_bytes=1000)) == 1
    with pytest.raises(UsageError, match="one row of the result has more than"):
        rows(demo, "select repeat('x', 2000)", most_bytes=1000)
    assert len(rows(demo, "select range, repeat('x', 5000) from range(3000)")) == 3000


def test_every_type_arrives(demo: Path) -> None:
    """Each type of the engine is shown, also those that Python lacks a library or a range for."""
    assert len(rows(demo, "from test_all_types()")) == 3
    shown = call("sql", "from test_all_types()", "--format", "jsonl", "--warehouse", demo)
    assert (shown.code, len(shown.stdout.splitlines()), shown.stderr) == (0, 3, "")


def test_a_worker_opens_the_file_that_a_query_names(demo: Path) -> None:
    """Also after another one; a relative path begins where the caller is."""
    assert rows(demo, "select count(*) from runs") == [(4,)]
    with pytest.raises(InputError, match=r"none\.duckdb: no warehouse here"):
        rows(Path("none.duckdb"), "select 1")
    assert rows(demo, "select count(*) from runs") == [(4,)]


@pytest.mark.usefixtures("new_workers")
def test_a_crash_of_the_engine_is_a_message(demo: Path) -> None:
    """When the worker ends for any reason, the process that asked goes on."""
    assert rows(demo, "select 1") == [(1,)]
    (worker,) = query_worker._idle_workers
    with (
        pytest.raises(UsageError, match=r"crashed on this query \(SIGSEGV\)"),
        ask(demo, "from range(1000000000)", seconds=30) as answer,
    ):
        os.kill(worker._process.pid, signal.SIGSEGV)
        list(answer)
    assert rows(demo, "select 1") == [(1,)]


@pytest.mark.usefixtures("new_workers")
def test_a_worker_imports_nothing_from_the_working_folder(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A results folder may hold modules of any name."""
    for name in ("duckdb.py", "pickle.py", "pipeline.py"):
        (tmp_path / name).write_text(f"open({str(tmp_path / 'imported')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    assert rows(demo, "select 1") == [(1,)]
    assert not (tmp_path / "imported").exists()


ASKING = """
import sys
from pathlib import Path
from pipeline import query_worker
worker = query_worker.Worker()
query_worker._keep(worker)
print(worker._process.pid, flush=True)
with query_worker.ask(Path(sys.argv[1]), sys.argv[2], seconds=60):
    pass
"""


def is_gone(number: int) -> bool:
    """Whether the process has ended, within some seconds; a zombie has."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize(
    "number", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.slow)]
)
def test_a_worker_ends_with_the_process_that_asks(demo: Path, number: signal.Signals) -> None:
    """In the middle of a value, by Ctrl-C or by a kill that nothing can react to."""
    asking = subprocess.Popen(
        [sys.executable, "-c", ASKING, demo, ENDLESS],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with asking:
        assert asking.stdout is not None
        worker = int(asking.stdout.readline())
        time.sleep(1.0)
        asking.send_signal(number)
        asking.wait(20)
    assert is_gone(worker)


@pytest.mark.slow
def test_a_slow_query_stops_no_other_page(demo: Path) -> None:
    """While one value is computed, the explorer answers other pages and other queries."""
    with viewed(demo) as reader:
        slow = threading.Thread(target=reader.get, args=["/sql"], kwargs={"query": ENDLESS})
        slow.start()
        time.sleep(0.5)
        began = time.monotonic()
        assert reader.get("/").status == 200
        assert "7" in reader.get("/sql", query="select 7 as n").words
        assert slow.is_alive() and time.monotonic() - began < 15
        # Its client is gone; the server does not wait for it.
    slow.join(30)


@pytest.mark.slow
@pytest.mark.parametrize("n_kilobytes", [300_000, 400_000, 600_000, 1_000_000])
def test_a_limit_of_the_shell_is_named(demo: Path, n_kilobytes: int) -> None:
    """Under `ulimit -v` a query is answered, or the message names that limit and no option."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (n_kilobytes << 10, n_kilobytes << 10))

    ended = blade("sql", LARGE["text"], "--warehouse", demo, preexec_fn=limited)
    assert ended.code == 2 and "Traceback" not in ended.stderr
    assert "ulimit -v" in ended.stderr and "--memory-limit" not in ended.stderr


@pytest.mark.slow
def test_ctrl_c_ends_the_command_and_its_query(demo: Path) -> None:
    """With 130, while one value is computed."""
    running = subprocess.Popen(
        [BLADE, "sql", ENDLESS, "--warehouse", demo], stderr=subprocess.PIPE, text=True
    )
    time.sleep(2.0)
    running.send_signal(signal.SIGINT)
    _, message = running.communicate(timeout=20)
    words = "blade: interrupted; no incomplete files are left."
    assert (running.returncode, message.strip()) == (130, words)


@pytest.mark.slow
def test_ctrl_c_ends_the_explorer_and_its_queries(demo: Path) -> None:
    """At once, though a value is being computed."""
    server = subprocess.Popen(
        [BLADE, "view", demo.parent, "--no-browser"], stdout=subprocess.PIPE, text=True
    )
    with server:
        assert server.stdout is not None
        page = server.stdout.readline().strip().replace("/?", "/sql?")
        address = f"{page}&{urlencode({'query': ENDLESS})}"
        slow = threading.Thread(target=_ignoring_the_end, args=[address])
        slow.start()
        time.sleep(3.0)
        (worker,) = _children(server.pid)
        began = time.monotonic()
        server.send_signal(signal.SIGINT)
        assert server.wait(15) == 0
        assert time.monotonic() - began < 5
    slow.join(20)
    assert is_gone(worker)


def _ignoring_the_end(address: str) -> None:
    with suppress(OSError, HTTPException):
        urllib.request.urlopen(address, timeout=60).close()


def _children(number: int) -> list[int]:
    """The processes that any thread of a process has started."""
    lists = Path(f"/proc/{number}/task").glob("*/children")
    return [int(child) for path in lists for child in path.read_text().split()]
