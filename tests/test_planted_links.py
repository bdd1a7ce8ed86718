"""Links and lists that someone else put into a folder: nothing is changed through them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import fsspec
import pytest

from pipeline import export, files, outputs, remote
from pipeline.answers import label_file
from pipeline.errors import BladeError
from pipeline.package import files as package_files
from tests.results import call, contents, write

MANIFEST = "manifest.json"
CACHE = remote.CACHE_NAME
URL = "memory://planted/eval"
COPY = "eval/a_rollouts.jsonl"


def put(out: Path) -> None:
    """An output of one run, as an analysis would put it in place."""
    with outputs.replaced(out) as beside:
        outputs.write(beside, {"report.md": "new", "runs/x/report.md": "new", MANIFEST: "{}"})


def put_export(out: Path) -> None:
    """An export of one table."""
    with outputs.replaced(out, by="export", stale=export._listed) as beside:
        outputs.write(beside, {"runs.csv": "new", export.LISTING: "{}"})


def put_text(out: Path) -> None:
    """A single file, as --out names one."""
    package_files.write_text(out / "report.md", "new")


def put_reward(out: Path) -> None:
    """A file in a folder of the output."""
    package_files.write_text(out / "golden" / "reward.json", "new", folder=out)


def put_label(out: Path) -> None:
    """A label of the explorer."""
    label_file.append(out / "labels.jsonl", "{}", first=lambda: [])


def fetch(out: Path) -> None:
    """A copy of a store with one file."""
    store = fsspec.filesystem("memory")
    store.pipe({"/planted/eval/a_rollouts.jsonl": b"new\n"})
    try:
        remote.local([URL], out)
    finally:
        store.rm("/planted", recursive=True)


def clean(out: Path) -> None:
    """The command that removes what is kept."""
    call("clean", out)


def copy_folder(out: Path) -> Path:
    """Where the copy of the store is kept."""
    fetch(out)
    (folder,) = (out / CACHE).iterdir()
    return folder


def index(**names: str) -> str:
    """An index of copies."""
    return json.dumps(names)


def link(name: str, target: str = "victim") -> Callable[[Path, Path], None]:
    """A link at a name in the output, to the victim's folder or a file in it."""

    def plant(out: Path, home: Path) -> None:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).symlink_to(home / target)

    return plant


def text(name: str, content: str | Callable[[Path], str]) -> Callable[[Path, Path], None]:
    """A file at a name in the output."""

    def plant(out: Path, home: Path) -> None:
        write(out, {name: content if isinstance(content, str) else content(home)})

    return plant


def listing(*names: str) -> Callable[[Path], str]:
    """An export's list of files, `{home}` being where the victim is."""
    return lambda home: json.dumps({"n_rows": {n.format(home=home): 1 for n in names}})


def manifest(*names: str) -> Callable[[Path], str]:
    """A manifest of an analysis."""
    return lambda home: json.dumps({"outputs": [n.format(home=home) for n in names]})


def both(*plants: Callable[[Path, Path], None]) -> Callable[[Path, Path], None]:
    """Several of them."""

    def plant(out: Path, home: Path) -> None:
        for each in plants:
            each(out, home)

    return plant


def in_copies(name: str, content: str | None = None) -> Callable[[Path, Path], None]:
    """A file, or a link to the victim, in the folder of a copy that was made before."""

    def plant(out: Path, home: Path) -> None:
        path = copy_folder(out) / name
        path.unlink(missing_ok=True)
        if content is None:
            path.symlink_to(home / "victim/report.md")
        else:
            path.write_text(content)

    return plant


def linked_copies(out: Path, home: Path) -> None:
    """The whole folder of a copy is a link."""
    folder = copy_folder(out)
    folder.rename(home / "victim" / "moved")
    folder.symlink_to(home / "victim" / "moved")


def room(out: Path, _home: Path) -> None:
    """What looks like a killed analysis, with a file of the user's among the new ones."""
    write(out, {"notes.md": "mine", ".blade/new/notes.md": "theirs"})
    (out / ".blade/now").symlink_to("new")


FILE = "victim/report.md"
CASES: dict[str, tuple[Callable[[Path, Path], None], Callable[[Path], None]]] = {
    "room": (link(".blade"), put),
    "room, cleaned": (link(".blade", "killed"), clean),
    "room of someone else": (text(".blade/thesis.txt", "mine"), put),
    "room that replaces": (room, put),
    "new": (link(".blade/new"), put),
    "old": (link(".blade/old"), put),
    "pointer": (link(".blade/now"), put),
    "report": (link("report.md", FILE), put),
    "report, one file": (link("report.md", FILE), put_text),
    "guessed name": (link(".report.md.writing", FILE), put_text),
    "folder of runs": (link("runs"), put),
    "folder of a run": (link("runs/x"), put),
    "manifest upwards": (text(MANIFEST, manifest("../victim/report.md")), put),
    "manifest absolute": (text(MANIFEST, manifest("{home}/victim/report.md")), put),
    "manifest by a link": (both(link("runs/y"), text(MANIFEST, manifest("runs/y/report.md"))), put),
    "manifest of someone's file": (
        both(text("thesis.txt", "mine"), text(MANIFEST, manifest("thesis.txt"))),
        put,
    ),
    "manifest that is a link": (link(MANIFEST, "victim/manifest.json"), put),
    "listing upwards": (text("export.json", listing("../victim/report.md")), put_export),
    "listing absolute": (text("export.json", listing("{home}/victim/report.md")), put_export),
    "listing by a link": (
        both(link("x"), text("export.json", listing("x/manifest.jsonl"))),
        put_export,
    ),
    "listing of someone's file": (
        both(text("thesis.txt", "mine"), text("export.json", listing("thesis.txt"))),
        put_export,
    ),
    "folder of rewards": (link("golden"), put_reward),
    "labels": (link("labels.jsonl", FILE), put_label),
    "labels, guessed name": (link(".labels.jsonl.writing", FILE), put_label),
    "cache": (link(CACHE), fetch),
    "copies": (linked_copies, fetch),
    "index": (in_copies(remote.INDEX_NAME), fetch),
    "index upwards": (
        in_copies(remote.INDEX_NAME, index(**{"../../../victim/report.md": "1"})),
        fetch,
    ),
    "index upwards of the copy": (
        in_copies(remote.INDEX_NAME, index(**{"../../../../victim/report.md": "1"})),
        fetch,
    ),
    "index upwards, cleaned": (
        in_copies(remote.INDEX_NAME, index(**{"../../../victim/report.md": "1"})),
        clean,
    ),
    "copy": (in_copies(COPY), fetch),
    "copy, guessed name": (in_copies("eval/.a_rollouts.jsonl.fetching"), fetch),
    "ignored": (link(f"{CACHE}/.gitignore", FILE), fetch),
    "ignored, cleaned": (link(f"{CACHE}/.gitignore", FILE), clean),
    "cache of someone else, cleaned": (text(f"{CACHE}/thesis.txt", "mine"), clean),
}


@pytest.mark.parametrize("name", CASES)
def test_nothing_goes_through_a_planted_link_or_list(name: str, tmp_path: Path) -> None:
    """Of any command with the folder, files outside and a user's own stay as they are."""
    plant, command = CASES[name]
    by_name = {"report.md": "kept", "runs/x/report.md": "kept", "manifest.jsonl": "kept"}
    write(tmp_path / "victim", {**by_name, MANIFEST: manifest("runs/y/report.md")(tmp_path)})
    write(tmp_path / "killed", {"new/report.md": "kept", "old/report.md": "kept"})
    (tmp_path / "killed" / "now").symlink_to("new")
    out = tmp_path / "out"
    out.mkdir()
    plant(out, tmp_path)
    before = _precious(tmp_path)
    with suppress(BladeError):
        command(out)
    after = _precious(tmp_path)
    assert after == before and before


def _precious(home: Path) -> dict[str, bytes]:
    """Everything outside of the output, and in it what only its user can have written."""
    by_name = {
        name: stored for name, stored in contents(home).items() if not name.startswith("out/")
    }
    mine = [path for path in (home / "out").rglob("*") if path.name in ("thesis.txt", "notes.md")]
    is_mine = {str(path): path.read_bytes() for path in mine if ".blade/new" not in str(path)}
    return {**by_name, **is_mine}


def test_what_another_user_listed_is_not_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A manifest counts only as that of the user who runs the command; so does each file."""
    write(
        tmp_path, {"runs/old/report.md": "old", MANIFEST: manifest("runs/old/report.md")(tmp_path)}
    )
    with monkeypatch.context() as patched:
        patched.setattr(os, "geteuid", lambda: 12345)
        assert outputs.listed(tmp_path) == set()
        put(tmp_path)
    assert (tmp_path / "runs/old/report.md").read_text() == "old"
    write(tmp_path, {MANIFEST: manifest("runs/old/report.md")(tmp_path)})
    put(tmp_path)
    assert not (tmp_path / "runs/old").exists()


def test_a_replaced_file_keeps_its_mode_and_leaves_nothing(tmp_path: Path) -> None:
    """Also where writing fails: the old file stays, and no name beside it."""
    path = tmp_path / "a.txt"
    with files.replacement(path) as beside:
        beside.write_text("one")
    path.chmod(0o640)
    with suppress(ZeroDivisionError), files.replacement(path) as beside:
        beside.write_text("half")
        raise ZeroDivisionError
    assert path.read_text() == "one"
    with files.replacement(path) as beside:
        beside.write_text("two")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("two", 0o640)
    assert [each.name for each in tmp_path.iterdir()] == ["a.txt"]


NAMES: list[tuple[Any, bool]] = [
    ("a", True),
    ("a/b.md", True),
    ("..a/b", True),
    ("", False),
    (".", False),
    ("..", False),
    ("a/../b", False),
    ("./a", False),
    ("a//b", False),
    ("a/", False),
    ("/a", False),
    ("//a", False),
    ("linked/a", False),
    ("linked", True),
]


@pytest.mark.parametrize(("name", "is_inside"), NAMES)
def test_names_that_lead_out_of_a_folder(name: str, is_inside: bool, tmp_path: Path) -> None:
    """No absolute path, no way up, no linked folder; a link as the last part is in the folder."""
    (tmp_path / "linked").symlink_to("/")
    assert files.is_inside(tmp_path, name) == is_inside


def test_labels_name_the_file_that_a_link_leads_to(tmp_path: Path) -> None:
    """A link to labels is refused, with the file to name instead."""
    (tmp_path / "real.jsonl").write_text("{}\n")
    (tmp_path / "labels.jsonl").symlink_to("real.jsonl")
    with pytest.raises(BladeError, match="is a link") as refused:
        put_label(tmp_path)
    assert str(tmp_path / "real.jsonl") in refused.value.hint


def test_a_link_in_place_of_a_copy_is_not_read(tmp_path: Path) -> None:
    """The file is fetched again, as if there were no copy."""
    (tmp_path / "victim").write_text("secret")
    copy = copy_folder(tmp_path) / COPY
    copy.unlink()
    copy.symlink_to(tmp_path / "victim")
    fetch(tmp_path)
    assert not copy.is_symlink() and copy.read_text() == "new\n"


def test_clean_tells_what_it_leaves(tmp_path: Path) -> None:
    """Files that no index lists stay, and are mentioned."""
    fetch(tmp_path)
    write(tmp_path, {f"{CACHE}/thesis.txt": "mine"})
    outcome = call("clean", tmp_path)
    assert outcome.code == 0 and "kept files that blade did not write" in outcome.stderr
    assert set(contents(tmp_path)) == {f"{CACHE}/thesis.txt"}
