"""The site of the documents, and the gallery of finished reports in it."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT
from tests.results import BLADE

DOCS = ROOT / "docs"
SETTINGS = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
LINK = re.compile(r"\]\(([^)#\s]+)")
REMOTE = re.compile(r"""<(?:script|link|img|iframe)[^>]*(?:src|href)=["']?(?:https?:)?//""")


def links(page: str) -> set[str]:
    """The files that a document links to."""
    return set(LINK.findall((DOCS / page).read_text(encoding="utf-8")))


def test_every_document_is_in_the_menu_and_linked() -> None:
    """Once each; from the first page every other is one link away."""
    listed = [page for group in SETTINGS["nav"] for pages in group.values() for page in pages]
    assert sorted(listed) == sorted(path.name for path in DOCS.glob("*.md"))
    assert set(listed) - {"index.md"} <= links("index.md")


def test_a_dead_link_fails_and_nothing_is_fetched() -> None:
    assert SETTINGS["strict"] and SETTINGS["theme"]["font"] is False
    (script,) = SETTINGS["extra"]["polyfills"]
    # The plugin adds a remote one unless a script of this name is listed.
    assert "iframe-worker" in script and (DOCS / script).is_file()


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make gallery` writes."""
    folder = tmp_path_factory.mktemp("gallery")
    # The libraries are installed: the tests run with them.
    make = ["make", "--old-file=.venv/.view", f"BIN={BLADE.parent}", f"GALLERY={folder}"]
    names = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([*make, "gallery"], cwd=ROOT, env=names, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return folder


@pytest.mark.slow
def test_the_gallery_has_what_the_first_page_links(gallery: Path) -> None:
    """Each is a page that loads nothing remote, and what it links to is there too."""
    shown = [link for link in links("index.md") if link.startswith("gallery/")]
    assert len(shown) == 4
    for link in shown:
        page = gallery / link.removeprefix("gallery/")
        text = page.read_text(encoding="utf-8")
        assert "<title" in text and not REMOTE.search(text)
        for name in re.findall(r'href="([^"#:]+)"', text):
            assert (page.parent / name).is_file(), (link, name)


@pytest.mark.slow
@pytest.mark.skipif(not importlib.util.find_spec("mkdocs"), reason="make site-libraries")
def test_the_site_is_built_with_its_search(gallery: Path, tmp_path: Path) -> None:
    """No page loads anything remote; the search knows all documents; a dead link is an error."""
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    shutil.copytree(DOCS, tmp_path / "docs", ignore=shutil.ignore_patterns("gallery"))
    shutil.copytree(gallery, tmp_path / "docs" / "gallery")
    build = [sys.executable, "-m", "mkdocs", "build"]
    done = subprocess.run(build, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    pages = list((tmp_path / "site").glob("*.html"))
    assert {path.stem for path in DOCS.glob("*.md")} <= {path.stem for path in pages}
    assert not [page.name for page in pages if REMOTE.search(page.read_text(encoding="utf-8"))]
    index = json.loads((tmp_path / "site" / "search" / "search_index.json").read_text("utf-8"))
    known = {each["location"].partition("#")[0] for each in index["docs"]}
    assert {f"{path.stem}.html" for path in DOCS.glob("*.md")} <= known
    (tmp_path / "docs" / "scale.md").write_text("[missing](missing.md)\n")
    assert subprocess.run(build, cwd=tmp_path, capture_output=True).returncode == 1
