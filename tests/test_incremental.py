"""An analysis once more: an output that still describes its inputs is not made again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pytest

from pipeline import earlier
from pipeline import run as flow
from pipeline.ingest import discover
from pipeline.ingest.load import lines
from pipeline.profile import Profile
from pipeline.run import Progress, run
from pipeline.settings import Settings
from tests.lean import LOADED, only
from tests.results import BLADE, rollout, write

NAME = "a_rollouts.jsonl"
# Longer than the clock's step that is allowed for.
STEP_SECONDS = 0.06


def rows(n_rows: int, *, last: float = 1.0) -> bytes:
    """Whole lines. Of another last reward, they have the same length and begin alike."""
    rewards = [1.0] * (n_rows - 1) + [last]
    created = (rollout(task, 0, reward=reward, note="n") for task, reward in enumerate(rewards))
    return b"".join(json.dumps(row).encode() + b"\n" for row in created)


PASSES, FAILS = rows(40), rows(40, last=0.0)
N_PASSES, N_FAILS = 40, 39


def analyzed(settings: Settings) -> None:
    """A whole analysis, of few relations."""
    with only(*LOADED):
        run(settings)


def rewards(out: Path) -> float:
    """The sum of all rewards in an output."""
    with duckdb.connect(str(out / "warehouse.duckdb"), read_only=True) as db:
        return db.sql("select sum(reward) from rollouts").fetchall()[0][0]


# An analysis, a change of the file system, and the next analysis into the same output.
Case = tuple[Settings, Callable[[], object], Settings]


def two_folders(folder: Path) -> tuple[Path, Path]:
    """Results in which all passes, and others that look the same."""
    first = write(folder / "a" / "results", {NAME: PASSES})
    return first, write(folder / "b" / "results", {NAME: FAILS})


def another_folder(folder: Path) -> Case:
    """Two folders, one after the other."""
    first, second = two_folders(folder)
    out = folder / "out"
    return Settings((first,), out), lambda: None, Settings((second,), out)


def another_named_run(folder: Path) -> Case:
    """The same name for another file."""
    first, second = two_folders(folder)
    named = Settings((), folder / "out", run_names=(("base", first / NAME),))
    return named, lambda: None, replace(named, run_names=(("base", second / NAME),))


def exchanged_folders(folder: Path) -> Case:
    """`mv` puts another run in the place of the first."""
    first, second = two_folders(folder)
    settings = Settings((folder / "a",), folder / "out")

    def exchange() -> None:
        first.rename(folder / "aside")
        second.rename(first)

    return settings, exchange, settings


def retargeted_link(folder: Path) -> Case:
    """A link out of the results leads to another file."""
    first, second = two_folders(folder)
    link = write(folder / "linked", {"notes.md": "one run"}) / NAME
    link.symlink_to(first / NAME)
    settings = Settings((link.parent,), folder / "out", follow_links=True)

    def retarget() -> None:
        link.unlink()
        link.symlink_to(second / NAME)

    return settings, retarget, settings


def rewritten_in_place(folder: Path) -> Case:
    """Another content, and the time that the file had before."""
    first, _ = two_folders(folder)
    path, settings = first / NAME, Settings((first,), folder / "out")

    def rewrite() -> None:
        before = path.stat()
        path.write_bytes(FAILS)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    return settings, rewrite, settings


CASES = [another_folder, another_named_run, exchanged_folders, retargeted_link, rewritten_in_place]


def inputs(settings: Settings) -> earlier.Inputs:
    """What an analysis would be made from."""
    artifacts = discover.artifacts(
        settings.results, run_names=settings.run_names, follow_links=settings.follow_links
    )
    return earlier.inputs(artifacts, Profile(), settings, has_pages=True)


@pytest.mark.parametrize("case", CASES)
def test_what_looks_the_same_is_not_the_same(tmp_path: Path, case: Callable[[Path], Case]) -> None:
    """Other files with equal names, sizes, beginnings and older times are no proof."""
    first, change, second = case(tmp_path)
    time.sleep(STEP_SECONDS)
    write(first.out, {"report.md": "40 of 40"})
    before = inputs(first)
    earlier.remember(first.out, before, earlier.written(first.out), ["hash"])
    assert earlier.is_current(first.out, inputs(first), by_content=False)
    change()
    assert not earlier.is_current(second.out, inputs(second), by_content=False)


def noted(settings: Settings) -> list[str]:
    """The stages and notes of an analysis that trusts files which were written a moment ago."""
    notes: list[str] = []
    with mock.patch.multiple(earlier, FINE_STEP=0, COARSE_STEP=0), only(*LOADED):
        run(settings, progress=Progress(stage=notes.append, note=notes.append))
    return notes


def is_rebuilt(notes: list[str]) -> bool:
    """Whether relations were made."""
    assert notes[-1].startswith("nothing has changed") != ("checking them" in notes)
    return "checking them" in notes


@pytest.mark.slow
def test_nothing_changed_nothing_is_made(tmp_path: Path) -> None:
    """The output stays as it is; touched, asked for, or of other settings, it is made again."""
    results = write(tmp_path / "results", {NAME: rows(2)})
    out = tmp_path / "out"
    plain = Settings((results,), out)
    assert is_rebuilt(noted(plain))
    before = {path: path.stat().st_ino for path in out.rglob("*")}
    assert not is_rebuilt(noted(plain))
    assert {path: path.stat().st_ino for path in out.rglob("*")} == before
    (out / ".blade").mkdir()
    notes = noted(plain)
    assert is_rebuilt(notes) and "removed the leftovers of a killed analysis: .blade" in notes
    (out / "manifest.json").write_text("{}")
    assert is_rebuilt(noted(plain))
    for how in ({"use_cache": False}, {"benchmark": "other"}):
        assert is_rebuilt(noted(Settings((results,), out, **how))), how


@pytest.mark.slow
def test_a_grown_file_is_read_whole(tmp_path: Path) -> None:
    """The output describes a file that grew, a new one, and none that is gone."""
    results = write(tmp_path / "results", {NAME: rows(2), "b_rollouts.jsonl": rows(3)})
    out = tmp_path / "out"
    noted(Settings((results,), out))
    with (results / NAME).open("ab") as file:
        file.write(json.dumps(rollout(2, 0)).encode() + b"\n")
    assert is_rebuilt(noted(Settings((results,), out)))
    assert rewards(out) == 6
    (results / "b_rollouts.jsonl").rename(results / "c_rollouts.jsonl")
    write(results, {"d_rollouts.jsonl": rows(4)})
    assert is_rebuilt(noted(Settings((results,), out)))
    assert rewards(out) == 10


@pytest.mark.slow
def test_a_file_that_was_just_written_is_read_again(tmp_path: Path) -> None:
    """Within a step of the clock it may have changed once more; its content proves that it is not.

    By content also a file that was copied over itself has not changed.
    """
    results = write(tmp_path / "results", {NAME: rows(2)})
    out = tmp_path / "out"
    long_step = mock.patch.multiple(earlier, FINE_STEP=10**12, COARSE_STEP=10**12)
    notes: list[str] = []
    progress = Progress(stage=notes.append, note=notes.append)
    with long_step, only(*LOADED):
        for by_content, expected in ((False, True), (False, True), (True, False)):
            run(Settings((results,), out, by_content=by_content), progress=progress)
            assert is_rebuilt(notes) == expected
            notes.clear()
    write(results, {NAME: rows(2)})
    assert not is_rebuilt(noted(Settings((results,), out, by_content=True)))
    write(results, {NAME: rows(2, last=0.0)})
    assert is_rebuilt(noted(Settings((results,), out, by_content=True)))
    assert rewards(out) == 1


@pytest.mark.slow
def test_an_input_that_changes_while_it_is_read_is_read_again(tmp_path: Path) -> None:
    """What was read is not known to be what the file holds afterwards."""
    results = write(tmp_path / "results", {NAME: PASSES})
    out = tmp_path / "out"
    checks = flow.warehouse.run_checks

    def changing(*arguments: Any) -> Any:
        (results / NAME).write_bytes(FAILS)
        return checks(*arguments)

    with mock.patch.object(flow.warehouse, "run_checks", changing):
        noted(Settings((results,), out))
    assert is_rebuilt(noted(Settings((results,), out)))
    assert rewards(out) == N_FAILS


@pytest.mark.slow
def test_an_output_of_somebody_else_is_not_believed(tmp_path: Path) -> None:
    """Only the output that this user's analysis wrote there counts, not a copy of it."""
    results = write(tmp_path / "results", {NAME: rows(2)})
    noted(Settings((results,), tmp_path / "out"))
    shutil.copytree(tmp_path / "out", tmp_path / "copy")
    assert is_rebuilt(noted(Settings((results,), tmp_path / "copy")))
    assert not is_rebuilt(noted(Settings((results,), tmp_path / "out")))
    shutil.rmtree(tmp_path / "out")
    (tmp_path / "copy").rename(tmp_path / "out")
    assert is_rebuilt(noted(Settings((results,), tmp_path / "out")))


# What is planted in an earlier warehouse, and whether the results grow before the next analysis.
CRAFTED = {
    "a quote in a name": (
        """create table raw."events""; copy (select 1) to '{written}'; --" as select 1""",
        True,
    ),
    "a view of a file": (
        """
        drop table raw.rejects;
        create view raw.rejects as
            select 1::bigint as record_id, 'r' as reason, content as snippet
            from read_text('{secret}')
        """,
        True,
    ),
    "a view for a table": (
        """
        drop table raw.notices;
        create view raw.notices as
            select error('planted') as no, 'c' as check_name, 's' as subject, 'm' as message,
                'h' as hint
        """,
        False,
    ),
    "a macro for a function": ("create macro json_keys(x) as error('planted')", True),
}


@pytest.mark.slow
@pytest.mark.parametrize(("crafted", "is_growing"), CRAFTED.values(), ids=CRAFTED)
def test_a_crafted_warehouse_is_not_read(tmp_path: Path, crafted: str, is_growing: bool) -> None:
    """With any content of an earlier warehouse, nothing of it runs, or gets into the new one."""
    results = write(tmp_path / "results", {NAME: rows(2)})
    out, written = tmp_path / "out", tmp_path / "written"
    secret = tmp_path / "secret"
    secret.write_text("S3CRET")
    time.sleep(STEP_SECONDS)
    with mock.patch("pipeline.resources.SMALL_BYTES", 0):
        analyzed(Settings((results,), out))
        path = out / "warehouse.duckdb"
        state = path.stat()
        with duckdb.connect(str(path)) as db:
            db.execute(crafted.format(written=written, secret=secret))
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
        write(results, {NAME: rows(3)} if is_growing else {})
        try:
            analyzed(Settings((results,), out))
        finally:
            assert not written.exists()
    assert rewards(out) == 2 + is_growing
    assert b"S3CRET" not in path.read_bytes()
    with duckdb.connect(str(path), read_only=True) as db:
        query = "select (select count(*) from raw.rejects), (select count(*) from raw.notices)"
        ((n_rejects, _),) = db.sql(query).fetchall()
    assert n_rejects == 0


def test_a_growing_file_waits_for_its_last_line(tmp_path: Path) -> None:
    """Half of a line is no reject while its file grows; a whole one without its end is a row."""
    whole = rows(2).splitlines(keepends=True)
    for content, n_lines in ((whole[0] + whole[1][:-9], 1), (whole[0] + whole[1][:-1], 2)):
        path = tmp_path / "x.jsonl"
        path.write_bytes(content)
        artifact = mock.Mock(path=path, compression=None)
        tally = lines.FileTally()
        actual = list(lines.batches(artifact, 0, tally, max_line_bytes=1 << 20, is_growing=True))
        assert tally.n_lines == n_lines == sum(batch.num_rows for batch in actual)


@pytest.mark.slow
def test_watched_results_are_analyzed_as_they_grow(tmp_path: Path) -> None:
    """A run that still writes: its report follows, half of a line waits, SIGTERM ends it well."""
    results = write(tmp_path / "results", {"notes.md": "not begun"})
    out = tmp_path / "out"
    how = ["--watch", "--interval", "0.1", "--quiet", "0.1"]
    with (tmp_path / "printed").open("w") as message:
        running = subprocess.Popen(
            [BLADE, "analyze", results, "--out", out, *how], stdout=message, stderr=message
        )
        try:
            wait_for(lambda: "waiting: " in (tmp_path / "printed").read_text())
            for n_rows, end in ((2, b'{"half'), (5, b"")):
                (results / NAME).write_bytes(rows(n_rows) + end)
                wait_for(lambda n_rows=n_rows: counted(out) == (n_rows, 0))
        finally:
            running.terminate()
        assert running.wait(60) == 0
    assert "stopped watching; the output is complete" in (tmp_path / "printed").read_text()


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
