"""Killed, interrupted, failed or raced: the previous output stays whole, the next one works."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from unittest import mock

import pytest

import pipeline
from pipeline import outputs
from pipeline import run as flow
from pipeline.package.sanitize.policy import Policy
from pipeline.package.sanitize.share import rewrite
from tests.results import BLADE, Results, analyzed, blade, call, contents, rollout, write
from tests.simulated import simulator

# Whole analyses, most of them in processes that are killed.
pytestmark = pytest.mark.slow

OUTPUT = ["manifest.json", "metrics.json", "report.html", "report.md", "runs", "warehouse.duckdb"]
BUILDING = ".blade/new/warehouse.duckdb"


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """20 MB of rollouts: an analysis of some seconds, on as many threads as there are."""
    folder = tmp_path_factory.mktemp("big")
    simulator().write_bench(folder, shape="trajectory", n_bytes=20_000_000)
    return folder


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small analysis."""
    files = {"old_rollouts.jsonl": [rollout(0, 0)]}
    return analyzed(tmp_path_factory.mktemp("earlier"), files).path.parent


@pytest.fixture
def out(earlier: Path, tmp_path: Path) -> Path:
    """The output of an earlier analysis, for a test to write over."""
    return shutil.copytree(earlier, tmp_path / "out")


def _listing(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _runs(out: Path) -> list[str]:
    return Results(out).column("select distinct run_id from rollouts")


def _started(results: Path, out: Path) -> subprocess.Popen[str]:
    """An analysis that has begun to write: its new file beside the old one has grown."""
    running = subprocess.Popen(
        [BLADE, "analyze", results, "--out", out],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and running.poll() is None:
        # Its size may still be that of an empty database when the rows are in its log.
        if sum(path.stat().st_size for path in out.glob(BUILDING)) > 100_000:
            return running
        time.sleep(0.01)
    running.kill()
    raise AssertionError(f"the analysis never began to write: {running.communicate()}")


def test_a_killed_analysis_leaves_the_old_warehouse(big: Path, out: Path) -> None:
    """SIGKILL in the middle: the old rows are still there; the next analysis leaves no litter."""
    before = contents(out)
    running = _started(big, out)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    assert running.returncode == -signal.SIGKILL
    assert (out / BUILDING).exists()
    assert {name: (out / name).read_bytes() for name in before} == before
    assert _runs(out) == ["old"]

    outcome = blade("analyze", big, "--out", out)
    assert outcome.code == 0
    assert _listing(out) == OUTPUT
    assert _runs(out) == ["bench_trajectory"]


@pytest.mark.parametrize(
    ("number", "code", "word"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")],
)
def test_a_stopped_analysis_ends_cleanly(
    big: Path, out: Path, number: int, code: int, word: str
) -> None:
    """Ctrl-C or SIGTERM at any moment: a word on stderr, no traceback, the old output as it was."""
    before = contents(out)
    for delay in (0.0, 0.3):
        running = _started(big, out)
        time.sleep(delay)
        running.send_signal(number)
        stdout, stderr = running.communicate(timeout=60)
        assert running.returncode == code and stdout == ""
        assert f"blade: {word}" in stderr and "Traceback" not in stderr
        assert contents(out) == before
        assert _listing(out) == OUTPUT


def test_two_analyses_into_one_folder_do_not_mix(big: Path, out: Path) -> None:
    """The second is refused with what to do; the first goes on and finishes."""
    first = _started(big, out)
    outcome = blade("analyze", big, "--out", out)
    _, stderr = first.communicate(timeout=60)
    assert outcome.code == 2 and outcome.stdout == ""
    assert "another analysis is writing here" in outcome.stderr and "--out" in outcome.stderr
    assert first.returncode == 0 and stderr.endswith("writing the report\n")
    assert _runs(out) == ["bench_trajectory"]


@pytest.mark.parametrize("step", ["load", "report", "texts"])
def test_a_failed_build_leaves_the_old_output(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """If any step fails, every file is the old one, byte for byte."""

    def fail(*_: object, **__: object) -> None:
        raise OSError("no space left on device")

    owner, name = {
        "load": (flow.load, "artifacts"),
        "report": (flow.report, "texts"),
        "texts": (flow.outputs, "write"),
    }[step]
    before = contents(out)
    results = write(tmp_path / "new", {"new_rollouts.jsonl": [rollout(0, 0)]})
    with monkeypatch.context() as patched:
        patched.setattr(owner, name, fail)
        with pytest.raises(OSError, match="no space left"):
            pipeline.analyze(results, out=out)
    assert contents(out) == before


def test_litter_of_a_killed_analysis_is_cleared(out: Path, tmp_path: Path) -> None:
    """Half a database, spill and texts do not stop the next analysis, which says so."""
    write(out / ".blade", {"new/warehouse.duckdb": b"half" * 1000, "spill/block.tmp": b"x"})
    results = write(tmp_path / "new", {"new_rollouts.jsonl": [rollout(0, 0)]})
    outcome = call("analyze", results, "--out", out)
    assert "removed the leftovers of a killed analysis: .blade\n" in outcome.stderr
    assert "removed" not in call("analyze", results, "--out", out).stderr
    assert _listing(out) == OUTPUT
    assert _runs(out) == ["new"]


def test_readers_keep_what_they_opened(out: Path, tmp_path: Path) -> None:
    """A warehouse that is open while the next one is written still answers."""
    results = write(tmp_path / "new", {"new_rollouts.jsonl": [rollout(0, 0)]})
    with pipeline.open_warehouse(out / "warehouse.duckdb") as opened:
        pipeline.analyze(results, out=out)
        assert opened.sql("select run_id from rollouts").rows() == [("old",)]
    assert _runs(out) == ["new"]


def test_reports_of_runs_that_are_gone_go_too(out: Path, tmp_path: Path) -> None:
    """What the last analysis wrote and this one does not is removed; other files are left."""
    (out / "runs" / "mine.txt").write_text("kept")
    (out / "runs" / "old" / "notes.md").write_text("kept")
    results = write(tmp_path / "new", {"new_rollouts.jsonl": [rollout(0, 0)]})
    pipeline.analyze(results, out=out)
    actual = sorted(str(path.relative_to(out)) for path in (out / "runs").rglob("*.*"))
    assert actual == [
        "runs/mine.txt",
        "runs/new/metrics.json",
        "runs/new/report.md",
        "runs/old/notes.md",
    ]


def test_an_edited_report_is_never_lost(out: Path, tmp_path: Path) -> None:
    """It is copied, one line says so, and the new outputs are those of a folder without it."""
    results = write(tmp_path / "new", {"new_rollouts.jsonl": [rollout(0, 0)]})
    fresh = tmp_path / "fresh"
    pipeline.analyze(results, out=fresh)
    (out / "report.md").write_text("first words")
    (out / "runs" / "old" / "report.md").write_text("on a run that is gone")
    outcome = call("analyze", results, "--out", out)
    assert "report.md had been edited: the edited file is now report.edited.md\n" in outcome.stderr
    assert outcome.stderr.count("had been edited") == 2
    (out / "report.md").write_text("second words")
    call("analyze", results, "--out", out)
    copies = {
        "report.edited.md": b"first words",
        "report.edited-2.md": b"second words",
        "runs/old/report.edited.md": b"on a run that is gone",
    }
    shown = {name: text for name, text in contents(out).items() if not name.endswith(".duckdb")}
    expected = {n: text for n, text in contents(fresh).items() if not n.endswith(".duckdb")}
    assert shown == expected | copies
    assert "edited" not in call("analyze", results, "--out", out, "--no-cache").stderr


def test_a_report_of_someone_else_is_copied_but_one_of_an_earlier_version_is_not(
    out: Path, tmp_path: Path
) -> None:
    """Where no manifest lists a report, a person wrote it; without a hash nothing is known."""
    results = write(tmp_path / "new", {"new_rollouts.jsonl": [rollout(0, 0)]})
    mine = write(tmp_path / "mine", {"report.md": "my own"})
    pipeline.analyze(results, out=mine)
    assert (mine / "report.edited.md").read_text() == "my own"
    manifest = json.loads((out / "manifest.json").read_text())
    del manifest["outputs_sha256"]
    (out / "manifest.json").write_text(json.dumps(manifest))
    pipeline.analyze(results, out=out)
    assert _listing(out) == OUTPUT


# Every call that changes what a folder shows, or that has it written to the disk.
CALLS = ("replace", "rename", "fsync", "link", "symlink", "unlink", "mkdir", "rmdir")


def _is_killed(at: int, work: Callable[..., object], *inputs: object) -> bool:
    """Do some work in a process that ends right before such a call; whether it came so far."""
    calls = count(1)

    def counted(call: Callable[..., object]) -> Callable[..., object]:
        return lambda *given, **how: os._exit(9) if next(calls) == at else call(*given, **how)

    child = os.fork()
    if child == 0:
        try:
            with mock.patch.multiple(os, **{each: counted(getattr(os, each)) for each in CALLS}):
                work(*inputs)
            os._exit(0)
        finally:
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 9)
    return code == 9


def _shown(folder: Path) -> dict[str, bytes]:
    """What a reader sees: files by name, whether links lead to them or not."""
    return {name: stored for name, stored in contents(folder).items() if not name.startswith(".")}


def _output(word: str, *runs: str) -> dict[str, str]:
    names = ["report.md", "warehouse.duckdb", *(f"runs/{run}/report.md" for run in runs)]
    manifest = json.dumps({"outputs": [*names, "manifest.json"], "word": word})
    return {**dict.fromkeys(names, word), "manifest.json": manifest}


def _put(out: Path, texts: Mapping[str, str]) -> None:
    with outputs.replaced(out) as beside:
        outputs.write(beside, texts)


def _links(folder: Path) -> list[Path]:
    """All links of an output outside of its hidden folder; each leads to a file."""
    links = [path for path in folder.rglob("*") if path.is_symlink()]
    links = [path for path in links if path.parent != folder / ".blade"]
    assert all(path.is_file() for path in links)
    return links


MINE = {"notes.md": "mine", "runs/gone/notes.md": "mine"}
OLD, NEW = _output("old", "gone", "both"), _output("new", "both", "fresh")
# A file of one output alone may stand beside the other.
FRESH, GONE = {"runs/fresh/report.md": "new"}, {"runs/gone/report.md": "old"}


def _is_whole(out: Path) -> tuple[bool, bool]:
    """Whether all old files are shown, and all new ones; nothing else but what is mine."""
    shown = _shown(out)
    old, new = (
        {n: text.encode() for n, text in (created | MINE).items()} for created in (OLD, NEW)
    )
    fresh, gone = ({n: text.encode() for n, text in created.items()} for created in (FRESH, GONE))
    return shown in (old, old | fresh), shown in (new, new | gone)


def _written(out: Path) -> Path:
    write(out, MINE)
    _put(out, OLD)
    assert _is_whole(out) == (True, False)
    return out


def test_a_kill_at_any_call_leaves_one_whole_output(tmp_path: Path) -> None:
    """Old files or new ones, never some of each, and no broken link.

    The next output leaves no link and no litter.
    """
    next_ = {n: text.encode() for n, text in (_output("next", "both") | MINE).items()}
    seen = []
    is_killed = True
    while is_killed:
        out = _written(tmp_path / str(len(seen)))
        is_killed = _is_killed(len(seen) + 1, _put, out, NEW)
        is_old, is_new = _is_whole(out)
        assert is_old != is_new
        _links(out)
        seen.append(is_new)
        _put(out, _output("next", "both"))
        assert _shown(out) == next_
        assert _listing(out) == sorted({name.partition("/")[0] for name in next_})
        assert _listing(out / "runs") == ["both", "gone"]
        assert _links(out) == []
    # From one call on all is new.
    assert len(seen) > 40 and seen == sorted(seen) and not seen[0] and seen[-1]


@pytest.mark.parametrize("step", [28, 36, 44, 52])
def test_a_kill_while_tidying_up_leaves_the_same_output(tmp_path: Path, step: int) -> None:
    """Killed in the switch, then at any call of what puts files in the place of links."""
    n_calls, is_killed = 0, True
    while is_killed:
        out = _written(tmp_path / str(n_calls))
        _is_killed(step, _put, out, NEW)
        before = _is_whole(out)
        is_killed = _is_killed(n_calls + 1, outputs.finish, out)
        assert _is_whole(out) == before
        _links(out)
        assert call("clean", out).code == 0
        assert _is_whole(out) == before and _links(out) == []
        assert _shown(out).keys() == (NEW if before[1] else OLD).keys() | MINE.keys()
        n_calls += 1


def test_links_of_an_earlier_version_are_tidied_up(tmp_path: Path) -> None:
    """It linked files that one output alone has, too: killed, it left broken links."""
    for chosen in ("old", "new"):
        out = tmp_path / chosen
        write(
            out, {".blade/old/runs/gone/report.md": "old", ".blade/new/runs/fresh/report.md": "new"}
        )
        (out / ".blade/now").symlink_to(chosen)
        for name in ("runs/gone/report.md", "runs/fresh/report.md"):
            (out / name).parent.mkdir(parents=True)
            (out / name).symlink_to(f"../../.blade/now/{name}")
        outputs.finish(out)
        name = "runs/gone/report.md" if chosen == "old" else "runs/fresh/report.md"
        assert contents(out) == {name: chosen.encode()}
        assert not any(path.is_symlink() for path in out.rglob("*"))


def test_without_links_files_are_moved_one_by_one(tmp_path: Path) -> None:
    """Some file systems have none, and some links are not allowed."""
    _put(tmp_path, _output("old", "gone"))
    with mock.patch.object(os, "link", side_effect=PermissionError(1, "no")):
        _put(tmp_path, _output("new", "fresh"))
    assert _shown(tmp_path) == {n: text.encode() for n, text in _output("new", "fresh").items()}
    assert _listing(tmp_path) == ["manifest.json", "report.md", "runs", "warehouse.duckdb"]


def test_sanitize_killed_at_any_call_changes_all_or_nothing(tmp_path: Path) -> None:
    """The same address has the same placeholder in all files, whenever it was killed.

    The log, which replaces nothing, is there before any file is clean.
    """
    rows = {f"{name}.md": f"write to ann@corp.io or {name}@corp.io\n" for name in ("x", "y", "z")}
    is_killed, n_killed, n_kept = True, 0, 0
    while is_killed:
        folder = write(tmp_path / str(n_killed), rows)
        is_killed = _is_killed(n_killed + 1, rewrite, [folder], Policy())
        shown = _shown(folder)
        is_clean = [b"redacted" in shown[name] for name in rows]
        assert all(is_clean) or not any(is_clean)
        assert "redactions.json" in shown or not any(is_clean)
        n_kept += not any(is_clean)
        n_killed += 1
        rewrite([folder], Policy())
        shared = {_shown(folder)[name].split()[2] for name in rows}
        assert len(shared) == 1 and shared != {b"ann@corp.io"}
        assert _listing(folder) == ["redactions.json", *rows]
    assert 0 < n_kept < n_killed
