"""Events in files beside a warehouse: the same rows, wherever the output is, or a plain error."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pytest

import pipeline
from pipeline import engines, outputs
from pipeline.answers import labelled
from pipeline.errors import BladeError, InputError
from pipeline.ingest.load import shards
from pipeline.run import run
from pipeline.settings import Settings
from tests.conftest import DEMO
from tests.results import blade, call, contents, rollout, write
from tests.test_engines import files_of, in_turn
from tests.test_interrupted import _is_killed

ROWS = "from events order by run_id, task_id, rollout_index, seq"
# Whole analyses, some of them in processes that are killed.
pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any input is large enough for files of events."""
    monkeypatch.setattr(shards, "STORED_BYTES", 0)


def analyze(results: Path, out: Path, engine: Any = in_turn, *, use_cache: bool = False) -> Path:
    """Analyze with an engine; the path of the warehouse."""
    with mock.patch.object(engines, "engine", lambda *_, **__: engine):
        return run(Settings((results,), out, use_cache=use_cache)).warehouse


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo in shards, with its events in files; the output folder, for reading only."""
    out = tmp_path_factory.mktemp("stored") / "blade_out"
    with mock.patch.multiple(shards, SHARD_BYTES=200_000, STORED_BYTES=0):
        analyze(DEMO, out)
    return out


@pytest.fixture
def out(stored: Path, tmp_path: Path) -> Path:
    """A copy of that output, for a test to change."""
    return shutil.copytree(stored, tmp_path / "out")


def rows(path: Path, query: str = ROWS) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Names of columns and rows of a query."""
    with pipeline.open_warehouse(path) as opened:
        table = opened.arrow(query)
    return table.column_names, [tuple(row.values()) for row in table.to_pylist()]


def test_the_events_are_those_of_one_file(
    stored: Path, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All relations have the rows of an analysis by one process; all other files its bytes."""
    files = [name for name in contents(stored) if name.startswith("events/")]
    assert len(files) > 3
    written = files_of(stored)
    assert {n: text for n, text in written.items() if n not in files} == files_of(demo.parent)
    # From any working directory.
    monkeypatch.chdir(tmp_path)
    assert rows(stored) == rows(demo)
    names = "select table_name from information_schema.tables where table_schema = 'main'"
    _, relations = rows(demo, f"{names} order by all")
    assert len(relations) > 50
    for (name,) in [*relations, ("raw.events",), ("raw.records",), ("raw.rejects",)]:
        query = f"select count(*), sum(hash(x)::hugeint) from {name} as x"
        assert rows(stored, query) == rows(demo, query), name


def test_an_analysis_by_one_process_removes_them(out: Path, demo: Path) -> None:
    """Nothing is left of files that no warehouse reads, but what a person put there."""
    write(out / "events", {"notes.md": "mine", f"{'0' * 64}.parquet": "mine"})
    analyze(DEMO, out, None)
    mine = {"events/notes.md", f"events/{'0' * 64}.parquet"}
    assert {name for name in contents(out) if name.startswith("events/")} == mine
    assert rows(out) == rows(demo)
    assert (out / "warehouse.duckdb").stat().st_size == demo.stat().st_size


def test_a_small_input_has_a_warehouse_of_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any engine reads it so, and also where only a warehouse is wanted, which may be cached."""
    results = write(tmp_path / "results", {"a_rollouts.jsonl": [rollout(0, 0)]})
    with mock.patch.object(engines, "engine", lambda *_, **__: in_turn):
        run(Settings((results,), tmp_path / "part", use_cache=False), has_pages=False)
        monkeypatch.setattr(shards, "STORED_BYTES", 64 << 20)
        run(Settings((results,), tmp_path / "small", use_cache=False))
    assert not list(tmp_path.glob("*/events"))


def linked(out: Path) -> Path:
    """A link to the warehouse alone, in another folder."""
    link = out.parent / "elsewhere/linked.duckdb"
    link.parent.mkdir()
    link.symlink_to(out / "warehouse.duckdb")
    return link


@pytest.mark.parametrize(
    "place",
    [
        lambda out: out.rename(out.with_name("moved")),
        lambda out: out.rename(out.with_name("a 'quoted', name")),
        lambda out: (out.with_name("link").symlink_to(out), out.with_name("link"))[1],
        linked,
    ],
    ids=["moved", "quoted", "linked", "linked file"],
)
def test_an_output_may_be_moved(
    out: Path, demo: Path, monkeypatch: pytest.MonkeyPatch, place: Callable[[Path], Path]
) -> None:
    """The warehouse reads what is beside it; no file of the output has its path."""
    assert not any(str(out).encode() in content for content in contents(out).values())
    path = place(out)
    assert rows(path) == rows(demo)
    monkeypatch.chdir(path.parent)
    assert rows(Path(path.name)) == rows(demo)
    outcome = blade("sql", "select count(*) from events", "--warehouse", path.name, cwd=path.parent)
    assert str(len(rows(demo)[1])) in outcome.stdout.replace(",", "")


def test_duckdb_itself_reads_them_in_the_output_folder(out: Path, demo: Path) -> None:
    """Without blade, where the names of the files lead to them."""
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(out)
        with duckdb.connect("warehouse.duckdb", read_only=True) as db:
            assert len(db.sql("from events").fetchall()) == len(rows(demo)[1])


@pytest.mark.parametrize("lost", ["folder", "file"])
def test_lost_events_are_an_error_and_never_fewer_rows(out: Path, lost: str) -> None:
    """The message names the folder; what needs no event is answered."""
    if lost == "folder":
        shutil.rmtree(out / "events")
    else:
        max((out / "events").glob("*.parquet")).unlink()
    for query in (ROWS, "select count(*) from events", "select final_text from rollouts"):
        outcome = call("sql", query, "--warehouse", out)
        assert (outcome.code, outcome.stdout) == (3, "")
        assert f"{out}/events: not all events of this warehouse are there." in outcome.stderr
    for words in (("show", "office_desk_aster-8b/0:0"), ("report", "--labels", DEMO / "x.jsonl")):
        outcome = call(*words, "--warehouse", out)
        assert outcome.code in (2, 3) and "Traceback" not in outcome.stderr
    assert rows(out, "select count(*) from run_metrics")[1][0][0] > 0
    assert call("sql", "--schema", "--warehouse", out).code == 0


def test_a_warehouse_shows_no_events_of_another(out: Path, tmp_path: Path) -> None:
    """Another warehouse at its place has other events, and their files other names."""
    results = write(tmp_path / "results", {"a_rollouts.jsonl": [rollout(0, 0, text="hello")]})
    other = analyze(results, tmp_path / "other")
    shutil.copy(other, out / "warehouse.duckdb")
    with pytest.raises(InputError, match="not all events"):
        rows(out)


def test_only_files_of_the_output_are_read(out: Path, tmp_path: Path) -> None:
    """A link that leads out of it is not followed, and no other file can be read or written."""
    secret = tmp_path / "secret.parquet"
    first, *_ = sorted((out / "events").glob("*.parquet"))
    shutil.move(first, secret)
    first.symlink_to(secret)
    with pytest.raises(InputError, match="not all events"):
        rows(out)
    with pipeline.open_warehouse(out) as opened:
        for query in (
            f"from read_parquet('{secret}')",
            f"from read_parquet('{first}')",
            f"from read_text('{out}/events/files.json')",
            f"from glob('{out}/events/*')",
            f"copy (select 1) to '{first}'",
            f"set variable blade_output = '{tmp_path}/'",
        ):
            with pytest.raises(BladeError):
                opened.sql(query)


def test_labels_and_cursors_read_the_same_events(out: Path, demo: Path, tmp_path: Path) -> None:
    """A copy of the warehouse with other labels, and a connection for another thread."""
    labels = write(tmp_path / "labels", {"labels.jsonl": ""}) / "labels.jsonl"
    copy = tmp_path / "copy/warehouse.duckdb"
    copy.parent.mkdir()
    labelled.write(out, labels, copy)
    assert rows(copy) == rows(demo)
    with pipeline.open_warehouse(out) as opened, opened.cursor() as cursor:
        (n_events,) = cursor.column("select count(*) from events")
    assert n_events == len(rows(demo)[1])
    assert call("report", "--labels", labels, "--warehouse", out).code == 0


def small(*names: str) -> dict[str, Any]:
    """Files of a few rollouts each, of another text in each."""
    return {
        f"{name}_rollouts.jsonl": [rollout(task, 0, text=f"{name} {task}") for task in range(8)]
        for name in names
    }


def test_shards_that_were_read_before_are_numbered_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that comes before the others changes their numbers, and none of them is read again."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setattr(shards, "SETTLED_NS", -1)
    monkeypatch.setattr(shards, "SHARD_BYTES", 700)
    read: list[str] = []

    def counted(work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        read.extend(str(item) for item in items if isinstance(item, shards.Shard))
        return map(work, items)

    results = write(tmp_path / "results", small("b", "c"))
    analyze(results, tmp_path / "out", counted, use_cache=True)
    n_read = len(read)
    write(results, small("a"))
    read.clear()
    analyze(results, tmp_path / "out", counted, use_cache=True)
    # The last shard of each file is always read.
    assert len([name for name in read if "a_rollouts" not in name]) == 2 < n_read
    stream = analyze(results, tmp_path / "stream", None)
    assert rows(tmp_path / "out") == rows(stream)
    numbers = "select distinct record_id >> 40 from raw.events order by all"
    assert rows(tmp_path / "out", numbers) == rows(stream, numbers)


def test_a_file_that_changes_while_it_is_read_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines that come or go between counting and reading would shift all that follow."""
    monkeypatch.setattr(shards, "SHARD_BYTES", 700)
    results = write(tmp_path / "results", small("a"))
    path = results / "a_rollouts.jsonl"

    def meanwhile(work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        for item in items:
            yield work(item)
            if isinstance(item, shards.Divided):
                path.write_bytes(path.read_bytes().replace(b" ", b"\n", 3))

    with pytest.raises(InputError, match="changed while it was read"):
        analyze(results, tmp_path / "out", meanwhile)


def test_a_killed_analysis_leaves_a_warehouse_with_its_events(tmp_path: Path) -> None:
    """Killed at any call of the switch: old events or new ones, and none of both afterwards."""
    made = {}
    # One file of events is in both outputs.
    for name, runs in (("old", ("a", "b")), ("new", ("a", "c"))):
        analyze(write(tmp_path / f"{name}_results", small(*runs)), tmp_path / name)
        made[name] = rows(tmp_path / name)
    new = contents(tmp_path / "new")

    def put(out: Path) -> None:
        with outputs.replaced(out) as beside:
            write(beside, new)

    seen = []
    is_killed = True
    while is_killed:
        out = shutil.copytree(tmp_path / "old", tmp_path / f"out_{len(seen)}")
        is_killed = _is_killed(len(seen) + 1, put, out)
        shown = rows(out)
        assert shown in made.values()
        seen.append(shown == made["new"])
        put(out)
        assert contents(out) == new
        shutil.rmtree(out)
    assert len(seen) > 20 and seen == sorted(seen) and not seen[0] and seen[-1]


def test_a_failed_analysis_leaves_the_old_events(out: Path, tmp_path: Path) -> None:
    """A shard that fails for good: all files as before, and the next analysis succeeds."""
    before = contents(out)
    results = write(tmp_path / "results", small("a", "b"))

    def failing(work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        yield from map(work, items[:1])
        if items:
            raise InputError("lost")

    with pytest.raises(InputError, match="lost"):
        analyze(results, out, failing)
    assert contents(out) == before
    analyze(results, out)
    listed = json.loads((out / "events/files.json").read_text())
    assert sorted(listed) == sorted(path.name for path in (out / "events").glob("*.parquet"))
    assert rows(out) == rows(analyze(results, tmp_path / "stream", None))


def test_an_unchanged_output_is_current_only_with_its_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of events that somebody touched or removed is a reason to analyze again."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setattr("pipeline.earlier.FINE_STEP", -(10**12))
    results = write(tmp_path / "results", small("a"))
    path = analyze(results, tmp_path / "out", use_cache=True)
    written = path.stat().st_ino
    assert analyze(results, tmp_path / "out", use_cache=True).stat().st_ino == written
    next((path.parent / "events").glob("*.parquet")).unlink()
    assert analyze(results, tmp_path / "out", use_cache=True).stat().st_ino != written
    assert len(rows(path)[1]) > 0


def test_a_whole_warehouse(tmp_path: Path) -> None:
    """`--whole` puts all events into the warehouse, whatever was there before."""
    out = tmp_path / "blade_out"
    with mock.patch.multiple(shards, SHARD_BYTES=200_000, STORED_BYTES=0):
        analyze(DEMO, out)
        expected = rows(out / "warehouse.duckdb")
        with mock.patch.object(engines, "engine", lambda *_, **__: in_turn):
            run(Settings((DEMO,), out, is_whole=True))
    assert not (out / "events").exists()
    shutil.copy(out / "warehouse.duckdb", tmp_path / "alone.duckdb")
    assert rows(tmp_path / "alone.duckdb") == expected
