"""Results by pattern and by URL: copied beside the output, and only once."""

from __future__ import annotations

import json
import os
from pathlib import Path

import fsspec
import pytest

from pipeline import remote, run
from pipeline.cli import analyze
from pipeline.errors import InputError, UsageError
from tests.results import call, rollout

LINE = json.dumps(rollout(0, 0)).encode() + b"\n"


@pytest.fixture
def store() -> fsspec.AbstractFileSystem:
    """A store in memory with two files."""
    store = fsspec.filesystem("memory")
    store.pipe({"/bucket/eval/a_rollouts.jsonl": LINE, "/bucket/eval/deep/b_rollouts.jsonl": LINE})
    yield store
    store.rm("/bucket", recursive=True)


def test_a_folder_in_a_store_is_copied_once(
    store: fsspec.AbstractFileSystem, tmp_path: Path
) -> None:
    """What has not changed there is not fetched again; what is gone leaves the copy."""
    message: list[str] = []
    (copy,) = remote.local(["memory://bucket/eval"], tmp_path, message.append)
    assert copy.name == "eval" and (copy / "deep/b_rollouts.jsonl").read_bytes() == LINE
    assert len(message) == 2
    store.pipe("/bucket/eval/a_rollouts.jsonl", LINE * 2)
    store.rm("/bucket/eval/deep/b_rollouts.jsonl")
    assert remote.local(["memory://bucket/eval"], tmp_path, message.append) == (copy,)
    assert message[2:] == ["fetching memory://bucket/eval: a_rollouts.jsonl"]
    assert not (copy / "deep/b_rollouts.jsonl").exists()


@pytest.mark.usefixtures("store")
def test_one_file_and_a_pattern(tmp_path: Path) -> None:
    """A file keeps its name; a pattern brings what it matches."""
    (one,) = remote.local(["memory://bucket/eval/a_rollouts.jsonl"], tmp_path)
    assert one.name == "a_rollouts.jsonl" and one.read_bytes() == LINE
    (some,) = remote.local(["memory://bucket/eval/**/*_rollouts.jsonl"], tmp_path)
    assert sorted(path.name for path in some.rglob("*.jsonl")) == [
        "a_rollouts.jsonl",
        "b_rollouts.jsonl",
    ]


def test_nothing_leaves_the_copy(tmp_path: Path) -> None:
    """A name with a way up is no file of ours."""

    class Store:
        def isfile(self, _top: str) -> bool:
            return False

        def find(self, _top: str, **_how: bool) -> dict[str, dict[str, int]]:
            return {"/top/../../evil": {"size": 1}, "/top/x": {"size": 1}}

        def get_file(self, _path: str, copy: str) -> None:
            Path(copy).write_bytes(b"x")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fsspec.core, "url_to_fs", lambda _url: (Store(), "/top"))
        (copy,) = remote.local(["evil://top"], tmp_path / "out")
    names = [path for path in tmp_path.rglob("*") if path.is_file() and path.name[0] != "."]
    assert names == [copy / "x"]


def test_patterns_of_files(tmp_path: Path) -> None:
    """In order; a file whose name looks like a pattern is that file."""
    for name in ("b.jsonl", "a.jsonl", "[x].jsonl"):
        (tmp_path / name).write_bytes(LINE)
    assert remote.local([f"{tmp_path}/?.jsonl"], tmp_path) == (
        tmp_path / "a.jsonl",
        tmp_path / "b.jsonl",
    )
    assert remote.local([f"{tmp_path}/[x].jsonl"], tmp_path) == (tmp_path / "[x].jsonl",)
    with pytest.raises(InputError, match="nothing matches"):
        remote.local([f"{tmp_path}/*.csv"], tmp_path)


def test_what_cannot_be_fetched_is_reported_without_secrets(tmp_path: Path) -> None:
    """No driver, no such store, nothing there: a message, and no password in it."""
    with pytest.raises(UsageError, match="nosuch"):
        remote.local(["nosuch://bucket/x"], tmp_path)
    with pytest.raises(InputError, match="no files found"):
        remote.local(["memory://key:secret@nothing/here"], tmp_path)
    outcome = call("analyze", "memory://user:secret@empty", "--out", tmp_path / "out")
    assert outcome.code in (2, 3) and "secret" not in outcome.stderr


@pytest.mark.usefixtures("store")
def test_clean_removes_what_is_kept(tmp_path: Path) -> None:
    """Copies and what a killed analysis left; other files stay."""
    remote.local(["memory://bucket/eval"], tmp_path)
    (tmp_path / "report.md").write_text("mine")
    (tmp_path / ".blade" / "new").mkdir(parents=True)
    outcome = call("clean", tmp_path)
    assert outcome.code == 0 and outcome.stdout.startswith("removed 0.0 MB from ")
    assert os.listdir(tmp_path) == ["report.md"]  # noqa: PTH208
    assert call("clean", tmp_path / "none").code == 3


@pytest.mark.usefixtures("store")
def test_analyze_says_how_much_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On stderr, where a cache is beside the output; without one it is not mentioned."""
    monkeypatch.setattr(run, "run", lambda settings, **_: run.Analysis(settings.out, ()))
    monkeypatch.setattr(analyze, "print_summary", lambda _analysis: None)
    outcome = call("analyze", "memory://bucket/eval", "--out", tmp_path / "with")
    remaining = tmp_path / "with" / remote.CACHE_NAME
    assert (outcome.code, outcome.stdout) == (0, "")
    assert (
        f"{remaining}: 0.0 MB cached for the next analysis; blade clean deletes it\n"
        in outcome.stderr
    )
    outcome = call("analyze", tmp_path, "--out", tmp_path / "without")
    assert (outcome.code, outcome.stderr) == (0, "")
