"""An analysis once more: what has not changed is not read, and nothing shows it."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pytest

from pipeline import run as flow
from pipeline import warehouse
from pipeline.artifact import Artifact
from pipeline.earlier import Stamp
from pipeline.ingest import discover, formats, load
from pipeline.ingest.formats import harbor
from pipeline.ingest.load import kept, lines
from pipeline.ingest.load.kept import Earlier
from pipeline.run import Progress, run
from pipeline.settings import SQL_DIR, Settings
from tests import test_formats_harbor
from tests.lean import LOADED, only
from tests.results import BLADE, rollout, write
from tests.test_determinism import contents, texts

# Whole analyses, several each.
pytestmark = pytest.mark.slow

KEEPS_ALL = mock.patch.object(flow, "SMALL_BYTES", 0)
STEPS = 16
NAMES = ("a_rollouts.jsonl", "b_rollouts.jsonl", "c_rollouts.jsonl")


def rows(n_rows: int, *, first: int = 0, reward: float = 1.0) -> list[bytes]:
    """Whole lines."""
    made = (
        rollout(task, 0, reward=reward, note=f"n{task}") for task in range(first, first + n_rows)
    )
    return [json.dumps(row).encode() + b"\n" for row in made]


def told(settings: Settings, *, older: Any = None) -> tuple[list[str], int]:
    """What an analysis said on its way, and how many bytes of lines it read."""
    said: list[str] = []
    n_read = 0

    def read(n_bytes: int, _all: int) -> None:
        nonlocal n_read
        n_read += n_bytes

    # No file is too young to be trusted: the changes of a test follow each other at once.
    older = older or (lambda stamp, than: stamp.changed_ns < than)
    with mock.patch.object(Stamp, "is_older", older), only(*LOADED):
        run(settings, progress=Progress(stage=said.append, read=read, note=said.append))
    return said, n_read


def edited(results: Path, chance: random.Random) -> str:
    """One change of a folder that grows, is mended, or loses a file."""
    path = results / chance.choice(NAMES)
    change = chance.choice(["append", "half", "rewrite", "remove", "touch", "cut", "blank", "none"])
    was = path.read_bytes() if path.exists() else b""
    n_rows = was.count(b"\n")
    match change:
        case "append":
            path.write_bytes(was + b"".join(rows(2, first=n_rows)))
        case "half":
            path.write_bytes(was + rows(1, first=n_rows)[0][: chance.randint(1, 60)])
        case "rewrite":
            path.write_bytes(b"".join(rows(n_rows or 1, reward=chance.choice([0.0, 1.0]))))
        case "remove" if path.name != NAMES[0]:
            path.unlink(missing_ok=True)
        case "touch" if path.exists():
            path.touch()
        case "cut":
            path.write_bytes(was[: chance.randint(0, len(was))] or rows(1)[0])
        case "blank":
            path.write_bytes(was + chance.choice([b"\n", b"  \n", b"  ", b"\r\n", b"{]\n"]))
    return f"{change} {path.name}"


def loaded(results: Path, path: Path, earlier: Earlier | None, *, is_growing: bool) -> set[str]:
    """All that was read, in a warehouse of raw tables; the names of files that lend their lines."""
    settings = Settings((results,), path.parent, is_growing=is_growing)
    found = discover.artifacts((results,))
    held = kept.kept(earlier, found) if earlier else None
    begun = held.warehouse if held and held.is_in_place else None
    with warehouse.build(path, threads=1, begun=begun) as db:
        warehouse.create_macros(db, SQL_DIR)
        load.artifacts(db, found, settings, spool=path.parent / "spool", held=held)
    return {found[file_no].name for file_no in held.files} if held else set()


def raw(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every raw table, sorted."""
    with duckdb.connect(str(path), read_only=True) as db:
        names = db.sql("select table_name from duckdb_tables() where schema_name = 'raw'")
        return {
            name: db.sql(f"from raw.{name} order by all").fetchall() for (name,) in names.fetchall()
        }


def test_edits_leave_what_a_fresh_reading_finds(tmp_path: Path) -> None:
    """Whatever happens to the files between two readings: the same rows, rejects and tallies."""
    chance = random.Random(3)
    results = write(tmp_path / "results", {name: b"".join(rows(3)) for name in NAMES})
    then, now, fresh = (tmp_path / f"{name}.duckdb" for name in ("then", "now", "fresh"))
    loaded(results, then, None, is_growing=False)
    done, n_lent = [], 0
    for _ in range(STEPS):
        before = {path.name: path.read_bytes() for path in results.iterdir()}
        done.append(edited(results, chance))
        after = {path.name: path.read_bytes() for path in results.iterdir()}
        same = {name for name, content in after.items() if before.get(name) == content}
        is_growing = chance.random() < 0.3
        earlier = Earlier(then, frozenset(same) if chance.random() < 0.5 else frozenset())
        n_lent += len(loaded(results, now, earlier, is_growing=is_growing))
        loaded(results, fresh, None, is_growing=is_growing)
        assert raw(now) == raw(fresh), f"after {done}, growing: {is_growing}"
        now.replace(then)
        fresh.unlink()
    assert n_lent > STEPS, n_lent


def test_a_folder_that_grows_is_analyzed_as_a_fresh_one(tmp_path: Path) -> None:
    """Files that grow, come and go: each relation and each byte is what it would be."""
    results = write(tmp_path / "results", {name: b"".join(rows(3)) for name in NAMES})
    out, fresh = tmp_path / "out", tmp_path / "fresh"
    with KEEPS_ALL:
        run(Settings((results,), out))
        (results / NAMES[0]).unlink()
        with (results / NAMES[1]).open("ab") as file:
            file.write(rows(1, first=3)[0] + b"{]\n")
        write(results, {"d_rollouts.jsonl": b"".join(rows(3, reward=0.0))})
        run(Settings((results,), out))
    run(Settings((results,), fresh))
    assert contents(out) == contents(fresh)
    assert texts(out) == texts(fresh)


def test_nothing_changed_nothing_is_made(tmp_path: Path) -> None:
    """The output stands, and says so; touched, or asked for, it is made anew."""
    results = write(tmp_path / "results", {NAMES[0]: b"".join(rows(2))})
    out = tmp_path / "out"
    told(Settings((results,), out))
    before = {path: path.stat().st_ino for path in out.rglob("*")}
    said, n_read = told(Settings((results,), out))
    assert said[-1].startswith("nothing has changed") and n_read == 0
    assert {path: path.stat().st_ino for path in out.rglob("*")} == before
    (out / ".blade").mkdir()
    said, _ = told(Settings((results,), out))
    assert "removed what a killed analysis left: .blade" in said
    (out / "manifest.json").write_text("{}")
    for how in ({}, {"is_kept": False}, {"benchmark": "other"}, {"is_rehashed": True}):
        said, _ = told(Settings((results,), out, **how))
        assert "checking them" in said, how


def test_only_new_lines_are_read(tmp_path: Path) -> None:
    """Of a file that grew its end, of the others nothing; a half-written line is read again."""
    files = {NAMES[0]: b"".join(rows(50)), NAMES[1]: b"".join(rows(50))}
    results = write(tmp_path / "results", files)
    out = tmp_path / "out"
    with KEEPS_ALL:
        _, first = told(Settings((results,), out))
        with (results / NAMES[0]).open("ab") as file:
            file.write(rows(1, first=50)[0] + b'{"half')
        _, again = told(Settings((results,), out))
        assert 0 < again < first / 20
        with (results / NAMES[0]).open("ab") as file:
            file.write(b'": 1}\n')
        _, last = told(Settings((results,), out))
        assert 0 < last < again


def test_trials_of_another_harness_are_read_once(tmp_path: Path) -> None:
    """What changed itself, or in a file that is read with it, is read again; the others are not."""
    results = write(tmp_path / "results", test_formats_harbor.files())
    trials = results / "jobs" / "j"
    out, fresh = tmp_path / "out", tmp_path / "fresh"
    read: list[str] = []
    told_by = harbor.read

    def noted(artifact: Artifact) -> Iterator[formats.Reading]:
        read.append(artifact.name)
        return told_by(artifact)

    with KEEPS_ALL, mock.patch.object(harbor, "read", noted):
        told(Settings((results,), out))
        n_all = len(read)
        read.clear()
        changed = trials / "t1__aaaaaaa" / "agent" / "trajectory.json"
        changed.write_text(changed.read_text().replace("Look.", "Looked."))
        shutil.rmtree(trials / "t2__ddddddd")
        row = test_formats_harbor.trial("t4", "t4__ggggggg", 1)
        write(results, {"jobs/j/t4__ggggggg/result.json": json.dumps(row)})
        told(Settings((results,), out))
    # The job is read together with its trials, of which one is gone.
    job = {"config.json", "result.json"}
    assert {name.split("/")[2] for name in read} == job | {"t1__aaaaaaa", "t4__ggggggg"}
    assert n_all > 2 * len(read) - len(job)
    told(Settings((results,), fresh))
    assert raw(out / "warehouse.duckdb") == raw(fresh / "warehouse.duckdb")


def test_a_file_of_the_same_size_and_time_is_told_by_its_bytes(tmp_path: Path) -> None:
    """`rehash` finds what neither its size, its beginning nor its times tell."""
    results = write(tmp_path / "results", {NAMES[0]: b"".join(rows(40))})
    out = tmp_path / "out"
    how = {"older": lambda *_: True}
    with KEEPS_ALL:
        told(Settings((results,), out), **how)
        changed = b"".join([*rows(39), *rows(1, first=39, reward=0.0)])
        (results / NAMES[0]).write_bytes(changed)
        said, _ = told(Settings((results,), out), **how)
        assert said[-1].startswith("nothing has changed")
        _, n_read = told(Settings((results,), out, is_rehashed=True), **how)
    assert n_read > len(changed) / 2
    assert [row[0] for row in contents(out)["rollouts"]].count("a") == 40


def test_a_growing_file_waits_for_its_last_line(tmp_path: Path) -> None:
    """Half of a line is no reject while its file grows; a whole one without its end is a row."""
    whole = rows(2)
    for content, n_lines in ((whole[0] + whole[1][:-9], 1), (whole[0] + whole[1][:-1], 2)):
        path = tmp_path / "x.jsonl"
        path.write_bytes(content)
        artifact = mock.Mock(path=path, compression=None)
        tally = lines.FileTally()
        found = list(lines.batches(artifact, 0, tally, max_line_bytes=1 << 20, is_growing=True))
        assert tally.n_lines == n_lines == sum(batch.num_rows for batch in found)


def test_watched_results_are_analyzed_as_they_grow(tmp_path: Path) -> None:
    """A run that still writes: its report follows, half of a line waits, SIGTERM ends it well."""
    results = write(tmp_path / "results", {"notes.md": "not begun"})
    out = tmp_path / "out"
    how = ["--watch", "--interval", "0.1", "--quiet", "0.1"]
    with (tmp_path / "said").open("w") as said:
        running = subprocess.Popen(
            [BLADE, "analyze", results, "--out", out, *how], stdout=said, stderr=said
        )
        try:
            wait_for(lambda: "waiting: " in (tmp_path / "said").read_text())
            for n_rows, end in ((2, b'{"half'), (5, b"")):
                (results / NAMES[0]).write_bytes(b"".join(rows(n_rows)) + end)
                wait_for(lambda n_rows=n_rows: counted(out) == (n_rows, 0))
        finally:
            running.terminate()
        assert running.wait(60) == 0
    assert "no longer watching; the output is whole" in (tmp_path / "said").read_text()


def counted(out: Path) -> tuple[int, int] | None:
    """How many rows and rejects the output knows of; nothing before there is one."""
    try:
        with duckdb.connect(str(out / "warehouse.duckdb"), read_only=True) as db:
            query = "select (select count(*) from rollouts), (select count(*) from rejects)"
            return db.sql(query).fetchall()[0]
    except duckdb.Error:
        return None


def wait_for(is_there: Callable[[], bool]) -> None:
    """Until it is, for two minutes at most."""
    until = time.monotonic() + 120
    while not is_there():
        assert time.monotonic() < until
        time.sleep(0.2)
