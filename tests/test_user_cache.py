"""The user's cache folder: private, bounded, and nothing is lost where it cannot be used."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from pipeline import user_cache
from pipeline.user_cache import PACKAGES, PARTS, RECORDS


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for all caches of a user."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    return tmp_path / "caches"


def mode(path: Path) -> int:
    """Who may read and write it."""
    return stat.S_IMODE(path.lstat().st_mode)


def record(home: Path) -> Path:
    """The only record."""
    (path,) = (home / "blade" / RECORDS).iterdir()
    return path


def test_a_record_is_for_this_user_alone(home: Path, tmp_path: Path) -> None:
    """It is read as it was written, for the folder that it is about, by any path to it."""
    out = tmp_path / "out"
    out.mkdir()
    (tmp_path / "link").symlink_to(out)
    user_cache.write(out, {"name": "\udcff"})
    assert user_cache.read(tmp_path / "link") == {"name": "\udcff"}
    assert user_cache.read(tmp_path / "other") is None
    assert (mode(home / "blade"), mode(record(home).parent), mode(record(home))) == (
        0o700,
        0o700,
        0o600,
    )


def test_a_record_that_others_could_write_is_ignored(home: Path, tmp_path: Path) -> None:
    """Nor is a link followed, or a pipe waited for."""
    user_cache.write(tmp_path, [1])
    path = record(home)
    path.chmod(0o620)
    assert user_cache.read(tmp_path) is None
    path.chmod(0o600)
    assert user_cache.read(tmp_path) == [1]
    path.rename(tmp_path / "elsewhere.json")
    path.symlink_to(tmp_path / "elsewhere.json")
    assert user_cache.read(tmp_path) is None
    path.unlink()
    os.mkfifo(path, 0o600)
    assert user_cache.read(tmp_path) is None
    path.unlink()
    path.write_text("[" * 100_000)
    path.chmod(0o600)
    assert user_cache.read(tmp_path) is None


@pytest.mark.parametrize("name", ["blade", f"blade/{RECORDS}"])
def test_a_folder_that_others_could_write_is_ignored(home: Path, tmp_path: Path, name: str) -> None:
    """Nothing is read from it or written to it; nor through a link."""
    user_cache.write(tmp_path, [1])
    (home / name).chmod(0o755)
    assert user_cache.folder(RECORDS) is None
    assert user_cache.read(tmp_path) is None
    (home / name).chmod(0o700)
    assert user_cache.read(tmp_path) == [1]
    (home / name).rename(tmp_path / "moved")
    (home / name).symlink_to(tmp_path / "moved")
    assert user_cache.folder(RECORDS) is None
    before = sorted((tmp_path / "moved").rglob("*"))
    user_cache.write(tmp_path / "other", [2])
    assert sorted((tmp_path / "moved").rglob("*")) == before


def test_without_a_place_nothing_is_cached(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file in the way is no error; a relative path is not used."""
    home.write_text("a file")
    user_cache.write(tmp_path, [1])
    assert user_cache.read(tmp_path) is None
    assert user_cache.entry(PACKAGES, tmp_path) is None
    user_cache.prune(PACKAGES)
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert user_cache.folder(PACKAGES) == tmp_path / "home" / ".cache" / "blade" / PACKAGES


@pytest.mark.usefixtures("home")
def test_the_entries_used_last_stay(tmp_path: Path) -> None:
    """Ten packages leave eight entries; what has another name is not ours to remove."""
    for number in range(10):
        entry = user_cache.entry(PACKAGES, tmp_path / str(number))
        assert entry is not None
        entry.mkdir()
        (entry / "warehouse.duckdb").write_text("rows")
        os.utime(entry, (number, number))
    other = entry.with_name("notes")
    other.mkdir()
    os.utime(other, (0, 0))
    user_cache.prune(PACKAGES)
    there = [
        number
        for number in range(10)
        if (user_cache.entry(PACKAGES, tmp_path / str(number)) or other).exists()
    ]
    assert there == list(range(2, 10))
    assert other.is_dir()


def test_parts_are_bounded(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest go first, what was used counts as new, and one analysis writes no more."""
    monkeypatch.setattr(user_cache, "MOST_BYTES", 100)
    for number in range(3):
        user_cache.Parts("").write(str(number), {"x": bytes(40)})
        for path in (home / "blade" / PARTS).iterdir():
            os.utime(path, ns=(0, path.stat().st_mtime_ns - 10**9))
        if number == 1:
            assert user_cache.Parts("").read("0", ["x"]) == {"x": bytes(40)}
    parts = user_cache.Parts("")
    assert [parts.has(str(number), ["x"]) for number in range(3)] == [True, False, True]
    for number in range(3):
        parts.write(f"later {number}", {"x": bytes(40)})
    assert [parts.has(f"later {number}", ["x"]) for number in range(3)] == [True, True, False]
    assert not user_cache.Parts("other").has("0", ["x"])
