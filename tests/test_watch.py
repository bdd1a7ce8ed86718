"""blade analyze --watch: what ends it, what it waits for, and what it tries again."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import duckdb
import pytest

from pipeline import outputs, watch
from pipeline.errors import InputError, UsageError
from pipeline.run import Analysis, Progress, run
from pipeline.settings import Settings
from pipeline.warehouse import open_warehouse
from tests.lean import only
from tests.results import rollout, write

# Takes the lock as another analysis does, says so, and lets go at the end of its input.
HOLDER = (
    "import fcntl, os, sys; fcntl.flock(os.open(sys.argv[1], os.O_RDONLY), fcntl.LOCK_EX); "
    "print('held', flush=True); sys.stdin.read()"
)


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Results that never change, looked at without a pause, but not for ever."""
    pauses = iter(range(100))
    monkeypatch.setattr(watch.time, "sleep", lambda _seconds: next(pauses))
    results = write(tmp_path / "results", {"a_rollouts.jsonl": "{}\n"})
    return Settings((results,), tmp_path / "out")


def watched(
    settings: Settings, run: Callable[[], None], notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> Analysis:
    """The first analysis that succeeds."""

    def analyze(inputs: Settings, *, progress: Progress) -> Analysis:
        assert progress.note is not None
        run()
        return Analysis(inputs.out, ())

    monkeypatch.setattr(watch, "run", analyze)
    progress = Progress(note=notes.append)
    return next(watch.analyses(settings, interval=1, quiet=1, progress=progress))


def refused(path: Path, number: int) -> None:
    """What the system refuses, as a message."""
    with outputs.explained(path):
        raise OSError(number, os.strerror(number))


def test_a_full_disk_is_tried_again(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the system's word, the engine's or ours, although no file has changed; each once."""
    full = os.strerror(errno.ENOSPC)
    spilled = "failed to offload data block. This limit was set by 'max_temp_directory_size'"

    def out_of_memory() -> None:
        try:
            raise duckdb.OutOfMemoryException(spilled)
        except duckdb.OutOfMemoryException as error:
            raise InputError("a row is too long to be read.") from error

    def engine() -> None:
        raise duckdb.IOException(f'IO Error: Could not write file "x": {full}')

    def raw() -> None:
        raise OSError(errno.EDQUOT, "quota")

    def ours() -> None:
        refused(settings.out, errno.ENOSPC)

    failures = [ours, ours, engine, raw, out_of_memory]

    def run() -> None:
        if failures:
            failures.pop(0)()

    notes: list[str] = []
    assert watched(settings, run, notes, monkeypatch).out == settings.out
    assert failures == []
    assert notes[0] == f"waiting: {settings.out}: cannot be written ({full})."
    assert len(notes) == 4 and all(note.startswith("waiting: ") for note in notes)


def test_a_folder_that_another_analysis_holds_is_waited_for(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock is that of another process; when it is gone, the analysis is made."""
    settings.out.mkdir()
    command = [sys.executable, "-c", HOLDER, settings.out]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdin is not None and holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        notes: list[str] = []
        n_tries = 0

        def run() -> None:
            nonlocal n_tries
            n_tries += 1
            if n_tries == 4:
                holder.communicate()
            with outputs.locked(settings.out):
                pass

        watched(settings, run, notes, monkeypatch)
    assert n_tries == 4
    assert notes == [f"waiting: {settings.out}: another analysis is writing here."]


def test_results_that_cannot_be_used_are_tried_when_they_change(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading the same files again would give the same error."""
    n_looks = 0

    def sleep(_seconds: float) -> None:
        nonlocal n_looks
        n_looks += 1
        if n_looks == 20:
            write(settings.results[0], {"b_rollouts.jsonl": "{}\n"})

    monkeypatch.setattr(watch.time, "sleep", sleep)
    tried: list[int] = []

    def run() -> None:
        tried.append(n_looks)
        if n_looks < 20:
            raise InputError("no rollouts found.")

    notes: list[str] = []
    watched(settings, run, notes, monkeypatch)
    assert len(tried) == 2 and tried[0] < 20 <= tried[1]
    assert notes == ["waiting: no rollouts found."]


@pytest.mark.parametrize("error", [UsageError("--profile: no such file."), ZeroDivisionError()])
def test_other_errors_end_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """A wrong call stays wrong, and a bug is shown."""

    def run() -> None:
        raise error

    with pytest.raises(type(error)):
        watched(settings, run, [], monkeypatch)


@pytest.mark.slow
def test_a_verdict_so_far(tmp_path: Path) -> None:
    """Watched results are compared by wider intervals, and the page says that it is so far."""
    files = {
        f"x_{name}_rollouts.jsonl": [
            rollout(task, 0, reward=float(task >= first)) for task in range(40)
        ]
        for name, first in (("base", 30), ("new", 15))
    }
    results = write(tmp_path / "results", files)
    ends = []
    for is_growing in (False, True):
        out = tmp_path / f"out_{is_growing}"
        with nullcontext() if is_growing else only("comparisons"):
            run(Settings((results,), out, baselines=("x_base",), is_growing=is_growing))
        columns = "is_so_far, verdict, ci_new_tasks_low, unseen_low"
        with open_warehouse(out / "warehouse.duckdb") as opened:
            ends.append(opened.sql(f"select {columns} from comparisons where is_lead").row(0))
    assert "improved so far" in (out / "report.md").read_text(encoding="utf-8")
    (once, *_, low, unseen), (watched, *_, wider, unknown) = ends
    assert (once, watched) == (False, True)
    assert 0 < wider < low and unseen is not None and unknown is None
