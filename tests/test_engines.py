"""Shards: the same rows wherever they are read, also where a node is lost on the way."""

from __future__ import annotations

import json
import os
import random
import shutil
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pytest

from pipeline import earlier, engines, warehouse
from pipeline.artifact import Artifact, Kind
from pipeline.engines import local, ray
from pipeline.errors import InputError, UsageError
from pipeline.ingest import discover, load
from pipeline.ingest.load import shards
from pipeline.ingest.load.lines import Span
from pipeline.profile import Profile
from pipeline.run import run
from pipeline.settings import SQL_DIR, Settings
from pipeline.user_cache import Parts
from tests.conftest import DEMO
from tests.results import BLADE, contents, rollout, write

# BLADE_EDITS=200 takes minutes.
N_EDITS = int(os.environ.get("BLADE_EDITS", "15"))
ODD = [
    b"\xef\xbb\xbf" + json.dumps(rollout(0, 0)).encode() + b"\n",
    b"\xef\xbb\xbf" + json.dumps(rollout(1, 0)).encode() + b"\n",  # a mark in the midst of a file
    b"\n",
    b"{]\n",
    b"  \r\n",
    b'{"reward": "\xff"}\n',
    json.dumps(rollout(2, 0, note="x" * 300)).encode() + b"\n",
    json.dumps(rollout(3, 0)).encode(),
]
RAY_ENVIRONMENT = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DISABLE_IMPORT_WARNING": "1"}


def in_turn(work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
    """The plainest engine."""
    return map(work, items)


def loaded(
    results: Path, path: Path, engine: Any, parts: Any = None
) -> dict[str, list[tuple[Any, ...]]]:
    """The raw tables, as one stream or an engine reads them."""
    path.unlink(missing_ok=True)
    settings = Settings((results,), path.parent, max_line_bytes=1000)
    actual = discover.artifacts((results,))
    with warehouse.build(path, threads=1) as db:
        warehouse.create_macros(db, SQL_DIR)
        spool = path.parent / "spool"
        load.artifacts(db, actual, settings, spool=spool, engine=engine, parts=parts)
    return raw(path)


def raw(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every raw table, sorted."""
    with duckdb.connect(str(path), read_only=True) as db:
        names = db.sql("select table_name from duckdb_tables() where schema_name = 'raw'")
        return {
            name: db.sql(f"from raw.{name} order by all").fetchall() for (name,) in names.fetchall()
        }


@pytest.mark.parametrize("size", [pytest.param(100, marks=pytest.mark.slow), 700])
def test_shards_give_the_rows_of_one_stream(tmp_path: Path, size: int) -> None:
    """Wherever a file is cut: rows, rejects, blank lines, their numbers and the file's hash."""
    files = {"a_rollouts.jsonl": b"".join(ODD), "b_rollouts.jsonl": b"".join(ODD[::-1])}
    results = write(tmp_path / "results", files)
    whole = loaded(results, tmp_path / "whole.duckdb", None)
    with mock.patch.object(shards, "SHARD_BYTES", size):
        assert loaded(results, tmp_path / "parts.duckdb", in_turn) == whole
    # Of one a mark in its midst, `{]` and `\\xff`; of the other also two rows in a line, two marks.
    assert len(whole["rejects"]) == 3 + 5


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for parts of files; the files are old enough, and their shards small."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setattr(shards, "SETTLED_NS", -1)
    monkeypatch.setattr(shards, "SHARD_BYTES", 700)
    return tmp_path / "caches/blade/parts"


@pytest.mark.slow
@pytest.mark.usefixtures("kept")
def test_parts_are_read_once(tmp_path: Path) -> None:
    """What is appended is read, with what follows the last part; the rows are those of a stream."""
    path = tmp_path / "results/a_rollouts.jsonl"
    results = write(path.parent, {path.name: b"".join([*ODD, b"\n"] * 2)})
    read: list[str] = []
    streams: dict[bytes, dict[str, list[tuple[Any, ...]]]] = {}

    def counted(work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        read.extend(str(item) for item in items if isinstance(item, shards.Shard))
        return map(work, items)

    def read_again(program: str = "this") -> int:
        read.clear()
        content = path.read_bytes()
        if content not in streams:
            streams[content] = loaded(results, tmp_path / "whole.duckdb", None)
        rows = loaded(results, tmp_path / "parts.duckdb", counted, Parts(program))
        assert rows == streams[content]
        return len(read)

    n_shards = read_again()
    assert n_shards > 2
    assert read_again() == 1
    with path.open("ab") as file:
        file.write(json.dumps(rollout(9, 0)).encode() + b"\n")
    assert read_again() <= 2 < n_shards
    assert read_again("another program") >= n_shards
    # A change is in all parts from there on.
    path.write_bytes(path.read_bytes().replace(b"question 0", b"question 7", 1))
    assert read_again() >= n_shards


@pytest.mark.slow
def test_reports_from_parts_are_the_same_to_the_byte(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some of the demo, then more of it: parts and stream, with the cache and without."""
    monkeypatch.setattr(shards, "SHARD_BYTES", 200_000)
    results = Path(shutil.copytree(DEMO, tmp_path / "results"))
    path = max(results.glob("*_rollouts.jsonl"), key=lambda each: each.stat().st_size)
    rows = path.read_bytes().splitlines(keepends=True)

    def reports(name: str, engine: Any, *, use_cache: bool) -> dict[str, bytes]:
        with mock.patch.object(engines, "engine", lambda *_, **__: engine):
            run(Settings((results,), tmp_path / name, use_cache=use_cache))
        return files_of(tmp_path / name)

    for n_rows in (len(rows) - 5, len(rows)):
        path.write_bytes(b"".join(rows[:n_rows]))
        n_parts = len(list(kept.iterdir())) if kept.exists() else 0
        by_parts = reports("parts", in_turn, use_cache=True)
        assert (n_parts > 0) == (n_rows == len(rows))
        assert by_parts == reports("stream", None, use_cache=False)
        assert by_parts == reports("again", in_turn, use_cache=False)


def edits(folder: Path, chance: random.Random) -> list[Callable[[], object]]:
    """What somebody may do to a folder of results, each time in another place."""
    paths = sorted(folder.glob("*.jsonl"))
    path, other = chance.choice(paths), chance.choice(paths)
    content = path.read_bytes()
    rows = content.splitlines(keepends=True)
    row = chance.choice(ODD).rstrip(b"\n") + b"\n"
    at = chance.randrange(len(rows) + 1)
    another = folder / f"{chance.randrange(100)}_rollouts.jsonl"

    def same_time() -> None:
        """As many bytes at the same time."""
        before = path.stat()
        path.write_bytes(content.replace(b"question", b"Question", 1))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    def exchange() -> None:
        """Two files under each other's name."""
        aside = folder / "aside"
        path.rename(aside)
        if other != path:
            other.rename(path)
        aside.rename(other)

    return [
        lambda: None,
        path.touch,
        same_time,
        exchange,
        lambda: path.write_bytes(content),
        lambda: path.write_bytes(content + row * 3),
        lambda: path.write_bytes(content + row[:-5]),
        lambda: path.write_bytes(b"".join([*rows[:at], row, *rows[at:]])),
        lambda: path.write_bytes(b"".join([*rows[:at], *rows[at + 1 :]])),
        lambda: path.write_bytes(content[: chance.randrange(len(content) + 1)]),
        lambda: another.write_bytes(b"".join(chance.choices(ODD, k=9))),
        lambda: path.rename(another),
        lambda: path.unlink() if len(paths) > 1 else None,
    ]


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.usefixtures("kept")
def test_any_edit_of_a_folder_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts give the rows of a stream after random edits; no older output counts as current."""
    monkeypatch.setattr(shards, "SHARD_BYTES", 3000)
    monkeypatch.setattr(earlier, "FINE_STEP", 0)
    monkeypatch.setattr(earlier, "COARSE_STEP", 0)
    chance = random.Random(0)
    files = {f"{name}_rollouts.jsonl": b"".join(chance.choices(ODD, k=12)) for name in "abc"}
    results = write(tmp_path / "results", files)
    settings = Settings((results,), write(tmp_path / "out", {"report.md": "written"}))
    described: dict[str, bytes] = {}
    n_current = n_files = 0
    for _ in range(N_EDITS):
        time.sleep(0.01)  # more than a step of the clock
        inputs = earlier.inputs(discover.artifacts((results,)), Profile(), settings, has_pages=True)
        if earlier.is_current(settings.out, inputs, by_content=False):
            assert contents(results) == described
            n_current += 1
        else:
            by_parts = loaded(results, tmp_path / "parts.duckdb", in_turn, Parts(""))
            assert by_parts == loaded(results, tmp_path / "stream.duckdb", None)
            n_files += len(by_parts["files"])
            described = contents(results)
            earlier.remember(settings.out, inputs, earlier.written(settings.out), ["hash"])
        chance.choice(edits(results, chance))()
    assert n_current >= N_EDITS // 40 and n_files > N_EDITS // 2


def files_of(out: Path) -> dict[str, bytes]:
    """All files of an output but its warehouse."""
    return {name: content for name, content in contents(out).items() if "duckdb" not in name}


def analyzed(out: Path, engine: Any) -> dict[str, bytes]:
    """The files that an analysis of the demo by an engine writes, nothing kept from before."""
    with mock.patch.object(engines, "engine", lambda *_, **__: engine):
        run(Settings((DEMO,), out, use_cache=False))
    return files_of(out)


@pytest.mark.exhaustive
@pytest.mark.slow
def test_processes_write_what_one_process_writes(
    tmp_path: Path, demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several processes with many shards: all files to the byte, and all rows."""
    monkeypatch.setattr(shards, "SHARD_BYTES", 200_000)
    assert analyzed(tmp_path, partial(local.answers, jobs=2)) == files_of(demo.parent)
    assert raw(tmp_path / "warehouse.duckdb") == raw(demo)


@pytest.mark.slow
def test_parts_that_are_not_as_written_are_ignored(tmp_path: Path, kept: Path) -> None:
    """Other bytes, other columns, what others may write, and links are read from the file again."""
    results = write(tmp_path / "results", {"a_rollouts.jsonl": b"".join([*ODD, b"\n"] * 2)})
    with mock.patch.object(shards, "gather", wraps=shards.gather) as gather:
        whole = loaded(results, tmp_path / "parts.duckdb", in_turn, Parts(""))
    n_shards = gather.call_count
    assert {stat.S_IMODE(path.lstat().st_mode) for path in kept.iterdir()} == {0o600}
    other = tmp_path / "other"
    with duckdb.connect() as db:
        db.execute(f"copy (select 1 as n_lines, 'x' as note) to '{other}' (format parquet)")
    harms: list[Callable[[Path], Any]] = [
        lambda path: path.write_bytes(path.read_bytes()[:-9]),
        lambda path: path.write_bytes(other.read_bytes()),
        lambda path: path.chmod(0o620),
        lambda path: path.rename(tmp_path / path.name) and path.symlink_to(tmp_path / path.name),
    ]
    written = contents(kept)
    for harm in harms:
        for name, content in written.items():
            (kept / name).unlink()
            (kept / name).touch(mode=0o600)
            (kept / name).write_bytes(content)
            harm(kept / name)
        with mock.patch.object(shards, "gather", wraps=shards.gather) as gather:
            assert loaded(results, tmp_path / "parts.duckdb", in_turn, Parts("")) == whole
        assert gather.call_count == n_shards


@pytest.mark.slow
def test_parts_of_a_file_that_changes_are_not_kept(tmp_path: Path, kept: Path) -> None:
    """Where it is written to while it is read, nobody knows which lines were."""
    path = tmp_path / "results/a_rollouts.jsonl"
    write(path.parent, {path.name: b"".join([*ODD, b"\n"] * 2)})

    def meanwhile(work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        for item in items:
            yield work(item)
            os.utime(path, ns=(0, 0))

    loaded(path.parent, tmp_path / "parts.duckdb", meanwhile, Parts(""))
    assert not kept.exists() or not list(kept.iterdir())


def test_a_file_is_cut_where_lines_end(tmp_path: Path) -> None:
    """Each span ends with a line, and the last with the file."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"aaaa\n" * 4 + b"bb")
    artifact = Artifact(path, path.name, Kind.ROLLOUTS)
    with mock.patch.object(shards, "SHARD_BYTES", 7):
        spans = shards.cut(artifact)
    assert [(span.start, span.end) for span in spans] == [(0, 10), (10, 20), (20, None)]
    assert shards.cut(Artifact(path, "x.jsonl.gz", Kind.ROLLOUTS)) == [Span()]


def test_threads_do_it_where_they_are_few() -> None:
    """Processes only where one could not feed all threads."""
    assert engines.engine("local", jobs=None, address="") is None
    assert engines.engine("local", jobs=8, address="") is None
    assert engines.engine("local", jobs=9, address="") is not None


def ends(_item: int) -> None:
    """Work that a process does not survive."""
    os._exit(1)


@pytest.mark.slow
def test_processes_answer_in_order_and_their_end_is_reported() -> None:
    """Numbers back in their order; a process that dies ends the reading with a message."""
    assert list(local.answers(str, range(5), jobs=2)) == list("01234")
    with pytest.raises(InputError, match="was killed"):
        list(local.answers(ends, [1], jobs=2))


@pytest.mark.slow
def test_ray_is_imported_only_where_it_is_asked_for() -> None:
    """Nothing of ours needs it; without it, or without a cluster, a message says what to do."""
    code = "import sys, pipeline.run, pipeline.cli.analyze; sys.exit('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    with mock.patch.dict(sys.modules, {"ray": None}):
        read = engines.engine("ray", jobs=None, address="auto")
        assert read is not None
        with pytest.raises(UsageError, match="not installed"):
            list(read(str, [1]))


@pytest.mark.slow
def test_a_cluster_is_started_unless_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A local one, which ends with the reading; a named one that does not answer is an error."""
    ray = pytest.importorskip("ray")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    read = engines.engine("ray", jobs=None, address="auto")
    assert read is not None and list(read(lambda number: str(number), range(3))) == list("012")
    assert not ray.is_initialized()
    for address, variable in (("127.0.0.1:1", None), ("auto", "127.0.0.1:1")):
        if variable is not None:
            monkeypatch.setenv("RAY_ADDRESS", variable)
        read = engines.engine("ray", jobs=None, address=address)
        assert read is not None
        with pytest.raises(UsageError, match=r"127\.0\.0\.1:1"):
            list(read(str, [1]))


@pytest.mark.parametrize(("is_running", "expected"), [(False, "local"), (True, "auto")])
def test_a_cluster_that_has_ended_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_running: bool, expected: str
) -> None:
    """Ray records the address of the last one, and would wait for it."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        host, port = listening.getsockname()
        (tmp_path / "ray").mkdir()
        address = f"{host}:{port if is_running else 1}"
        (tmp_path / "ray/ray_current_cluster").write_text(address)
        monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
        monkeypatch.delenv("RAY_ADDRESS", raising=False)
        library = mock.Mock()
        ray._connect(library, "auto")
    assert library.init.call_args.kwargs["address"] == expected


@pytest.mark.slow
def test_a_cluster_loses_a_node_and_nothing_else(tmp_path: Path, demo: Path) -> None:
    """Two nodes, one taken away while it reads: what is written is the same to the byte."""
    cluster_utils = pytest.importorskip("ray.cluster_utils")
    import ray

    with mock.patch.dict(os.environ, RAY_ENVIRONMENT):
        cluster = cluster_utils.Cluster(
            initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
        )
        second = cluster.add_node(num_cpus=1)
        ask = [BLADE, "analyze", DEMO, "--out", tmp_path / "ray"]
        # Small shards: many tasks, so that both nodes have some when one is lost.
        setup = "import sys; from pipeline.ingest.load import shards; shards.SHARD_BYTES = 20_000; "
        main = "from pipeline.cli import main; main()"
        try:
            words = [*map(str, ask), "--engine", "ray", "--address", cluster.address]
            running = subprocess.Popen(
                [sys.executable, "-c", setup + f"sys.argv = {words!r}; " + main],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            time.sleep(5)
            cluster.remove_node(second)
            _, message = running.communicate(timeout=240)
        finally:
            ray.shutdown()
            cluster.shutdown()
    assert running.returncode == 0, message
    assert files_of(tmp_path / "ray") == files_of(demo.parent)
    assert raw(tmp_path / "ray/warehouse.duckdb") == raw(demo)
