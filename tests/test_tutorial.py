"""The tutorial and the pages for people who come from other tools."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pipeline.cli import COMMANDS
from tests.conftest import ROOT
from tests.results import run_document

TUTORIAL = ROOT / "docs" / "tutorial.md"
PAGES = ("README.md", "llms.txt", "docs/tutorial.md", "docs/coming_from.md")
DOCUMENTS = [
    "README.md",
    "llms.txt",
    *sorted(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md")),
]


@pytest.mark.slow
def test_every_command_of_the_tutorial_runs(tmp_path: Path) -> None:
    """All of them, in order; those that are to fail are followed by what is then printed."""
    printed = run_document(TUTORIAL, tmp_path).splitlines()
    assert "not yet: more repeats first" in printed and "the wrong figure is found" in printed
    assert "<html" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert (tmp_path / "tests_of_runs" / "quick_math_birch-70b" / "junit.xml").is_file()


@pytest.mark.parametrize("page", PAGES)
def test_commands_that_pages_name_exist(page: str) -> None:
    """A page names no command that blade does not have."""
    text = (ROOT / page).read_text(encoding="utf-8")
    code = " ".join(re.findall(r"`[^`]+`", text))
    named = set(re.findall(r"\bblade ([a-z][a-z-]+)(?=[ `\n])", code))
    assert named - set(COMMANDS) == set()


@pytest.mark.parametrize("page", DOCUMENTS)
def test_no_link_is_dead(page: str) -> None:
    """A relative link leads to a file, and its anchor to a heading of it."""
    path = ROOT / page
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        # The reports of the gallery are written by make.
        if "://" in link or link.startswith("gallery/"):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        assert target.exists(), f"{page}: {link}"
        if anchor and target.suffix == ".md":
            headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in map(slug, headings), f"{page}: {link}"


def slug(heading: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
