"""Killed, interrupted, failed or raced: the previous output stays whole, the next one works."""

from __future__ import annotations

import importlib.util
import json
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

import pipeline
from pipeline import run as flow
from tests.results import BLADE, Results, analyzed, blade, call, rollout, write

# Whole analyses, most of them in processes that are killed.
pytestmark = pytest.mark.slow

SIMULATOR = Path(__file__).resolve().parent.parent / "data_samples" / "simulate.py"
OUTPUT = [
    "manifest.json",
    "metrics.json",
    "report.html",
    "report.md",
    "runs",
    "warehouse.duckdb",
]
BUILDING = ".blade/new/warehouse.duckdb"


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """100 MB of rollouts: an analysis of some seconds."""
    spec = importlib.util.spec_from_file_location("simulate_big", SIMULATOR)
    assert spec is not None and spec.loader is not None
    simulate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(simulate)
    folder = tmp_path_factory.mktemp("big")
    simulate.write_bench(folder, shape="trajectory", n_bytes=100_000_000)
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


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


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
    before = _contents(out)
    running = _started(big, out)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    assert running.returncode == -signal.SIGKILL
    assert (out / BUILDING).exists()
    assert {name: (out / name).read_bytes() for name in before} == before
    assert _runs(out) == ["old"]

    said = blade("analyze", big, "--out", out)
    assert said.code == 0
    assert _listing(out) == OUTPUT
    assert _runs(out) == ["bench_trajectory"]


def test_an_interrupted_analysis_ends_cleanly(big: Path, out: Path) -> None:
    """Ctrl-C at any moment: a word on stderr, no traceback, the old output as it was."""
    before = _contents(out)
    said = []
    for delay in (0.0, 0.15, 0.3, 0.45, 0.6):
        running = _started(big, out)
        time.sleep(delay)
        running.send_signal(signal.SIGINT)
        stdout, stderr = running.communicate(timeout=30)
        assert running.returncode != 0
        assert stdout == ""
        assert _contents(out) == before
        said.append(stderr)
    assert not [stderr for stderr in said if "Traceback" in stderr]


def test_a_terminated_analysis_ends_cleanly(big: Path, out: Path) -> None:
    """SIGTERM at any moment: exit code 143, a word on stderr, nothing of it left behind."""
    before = _contents(out)
    for delay in (0.0, 0.2, 0.5):
        running = _started(big, out)
        time.sleep(delay)
        running.send_signal(signal.SIGTERM)
        stdout, stderr = running.communicate(timeout=30)
        assert running.returncode == 143
        assert stdout == ""
        assert stderr.endswith("blade: terminated; nothing is left half-written.\n")
        assert "Traceback" not in stderr
        assert _contents(out) == before
        assert _listing(out) == OUTPUT


@pytest.mark.parametrize("which", ["first", "second"])
def test_two_analyses_into_one_folder_do_not_mix(big: Path, out: Path, which: str) -> None:
    """The second is refused with what to do; the first goes on and finishes."""
    first = _started(big, out)
    said = blade("analyze", big, "--out", out)
    _, stderr = first.communicate(timeout=60)
    if which == "second":
        assert said.code == 2
        assert "another analysis is writing here" in said.stderr and "--out" in said.stderr
        assert said.stdout == ""
    else:
        assert first.returncode == 0 and stderr.endswith("writing the report\n")
        assert _runs(out) == ["bench_trajectory"]


@pytest.mark.parametrize("step", ["load", "relations", "report", "manifest", "texts"])
def test_a_failed_build_leaves_the_old_output(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Whatever step fails, every file is the old one, byte for byte."""

    def fail(*_: object, **__: object) -> None:
        raise OSError("no space left on device")

    owner, name = {
        "load": (flow.load, "artifacts"),
        "relations": (flow.warehouse, "create_relations"),
        "report": (flow.report, "texts"),
        "manifest": (flow.provenance, "manifest"),
        "texts": (flow.outputs, "write"),
    }[step]
    before = _contents(out)
    results = write(tmp_path / "new", {"new_rollouts.jsonl": [rollout(0, 0)]})
    with monkeypatch.context() as patched:
        patched.setattr(owner, name, fail)
        with pytest.raises(OSError, match="no space left"):
            pipeline.analyze(results, out=out)
    assert _contents(out) == before


def test_litter_of_a_killed_analysis_is_cleared(out: Path, tmp_path: Path) -> None:
    """Half a database, spill and texts do not stop the next analysis, which says so."""
    write(out / ".blade", {"new/warehouse.duckdb": b"half" * 1000, "spill/block.tmp": b"x"})
    results = write(tmp_path / "new", {"new_rollouts.jsonl": [rollout(0, 0)]})
    said = call("analyze", results, "--out", out)
    assert "removed what a killed analysis left: .blade\n" in said.stderr
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


def test_a_manifest_cannot_have_other_files_removed(out: Path, tmp_path: Path) -> None:
    """Whatever it lists, only reports and sidecars of ours go; none of them through a link."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "report.md").write_text("kept")
    (out / "mine").mkdir()
    (out / "mine" / "thesis.txt").write_text("kept")
    (out / "runs" / "linked").symlink_to(outside)
    listed = ["mine/thesis.txt", "warehouse.duckdb", "runs", "../outside/report.md", 7]
    manifest = {"tool": "blade", "outputs": [*listed, "runs/linked/report.md"]}
    (out / "manifest.json").write_text(json.dumps(manifest))
    results = write(tmp_path / "new", {"new_rollouts.jsonl": [rollout(0, 0)]})
    pipeline.analyze(results, out=out)
    assert _runs(out) == ["new"]
    assert (out / "mine" / "thesis.txt").read_text() == "kept"
    assert (outside / "report.md").read_text() == "kept"


@pytest.mark.parametrize("obstacle", ["runs", "report.md", "runs/new"])
def test_what_is_in_the_way_is_said(out: Path, tmp_path: Path, obstacle: str) -> None:
    """A folder where a file is to be, a file or a link where a folder is: nothing is replaced."""
    shutil.rmtree(out / "runs")
    (out / "report.md").unlink()
    path = out / obstacle
    path.parent.mkdir(exist_ok=True)
    if obstacle == "runs":
        path.write_text("a file")
    elif obstacle == "report.md":
        path.mkdir()
    else:
        path.symlink_to(tmp_path)
    before = _contents(out)
    results = write(tmp_path / "new", {"new_rollouts.jsonl": [rollout(0, 0)]})
    said = blade("analyze", results, "--out", out)
    assert said.code == 3 and str(path) in said.stderr and "--out" in said.stderr
    assert _contents(out) == before


def test_reports_of_runs_that_are_gone_go_too(out: Path, tmp_path: Path) -> None:
    """What the last analysis wrote and this one does not is removed; other files are left."""
    (out / "runs" / "mine.txt").write_text("kept")
    (out / "runs" / "old" / "notes.md").write_text("kept")
    results = write(tmp_path / "new", {"new_rollouts.jsonl": [rollout(0, 0)]})
    pipeline.analyze(results, out=out)
    found = sorted(str(path.relative_to(out)) for path in (out / "runs").rglob("*.*"))
    assert found == [
        "runs/mine.txt",
        "runs/new/metrics.json",
        "runs/new/report.md",
        "runs/old/notes.md",
    ]
