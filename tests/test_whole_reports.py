"""Reports of the demo, of each folder of the corpus alone, and after a curator's hand."""

from __future__ import annotations

import random
import re
import textwrap
from pathlib import Path

import pytest

import pipeline
from tests import browser, markdown_read, whole_reports
from tests.conftest import CORPUS, needs_corpus
from tests.test_report import check_figures

# All of them together are held to the same; alone, some are enough to see what one folder lacks.
FOLDERS = sorted({path.parent for path in CORPUS.rglob("*.jsonl")})[::6]
PROSE = re.compile(r"[A-Z*`]")


@pytest.mark.slow
def test_the_demo(demo: Path) -> None:
    """Every report of it."""
    whole_reports.check(demo.parent)


@needs_corpus
@pytest.mark.slow
def test_the_corpus(corpus: Path) -> None:
    """All of it together."""
    whole_reports.check(corpus.parent)


def test_reports_of_the_demo_are_markdown(demo: Path) -> None:
    """Of all runs and of one: tables, headings and marks are whole, citations lead somewhere."""
    paths = (demo.with_name("report.md"), *sorted(demo.parent.glob("runs/*/report.md"))[:1])
    texts = [path.read_text(encoding="utf-8") for path in paths]
    assert [markdown_read.complaints(text) for text in texts] == [[], []]
    whole_reports.check_citations(demo.parent, texts)


@needs_corpus
@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS, ids=[folder.name for folder in FOLDERS])
def test_each_folder_of_the_corpus_alone(folder: Path, tmp_path: Path) -> None:
    """Few runs, often one, with one repeat or none scored."""
    whole_reports.check(pipeline.analyze(folder, out=tmp_path / "out").out)


@needs_corpus
@pytest.mark.slow
@pytest.mark.skipif(browser.PATH is None, reason="no Chromium is installed")
def test_a_browser_loads_the_corpus_in_silence(corpus: Path, tmp_path: Path) -> None:
    """No message, and no request but for the file itself."""
    with browser.tab(tmp_path) as tab:
        tab.open(corpus.with_name("report.html"))
        tab.run("for (const each of document.querySelectorAll('[data-do]')) each.click();")
        assert tab.complaints == []
        asked = {url.partition("#")[0] for url in tab.requests if not url.startswith("about:")}
        assert asked <= {corpus.with_name("report.html").as_uri(), "data:,"}


def curated(text: str, choose: random.Random) -> str:
    """Paragraphs reflowed and reworded, sentences and rows of tables deleted, others added."""
    blocks = []
    for block in text.split("\n\n"):
        if block.startswith("| "):
            head, rule, *rows = block.split("\n")
            blocks.append("\n".join([head, rule, *(row for row in rows if choose.random() < 0.8)]))
        elif PROSE.match(block) and "\n" not in block:
            kept = [part for part in re.split(r"(?<=\.) ", block) if choose.random() < 0.7]
            told = " ".join(["We looked at this.", *kept, "It matters."])
            lines = textwrap.wrap(told, 70, break_long_words=False, break_on_hyphens=False)
            blocks.append("\n".join(lines))
        elif choose.random() < 0.9:
            blocks.append(block)
    return "\n\n".join(blocks)


def test_markers_survive_curation(demo: Path, tmp_path: Path) -> None:
    """What is left of a report after a person has edited it still says where it comes from."""
    text = demo.with_name("report.md").read_text(encoding="utf-8")
    edited = curated(text, random.Random(1))
    left = markdown_read.figures(edited)
    assert 0.5 < len(left) / len(markdown_read.figures(text)) < 0.95
    (tmp_path / "warehouse.duckdb").symlink_to(demo)
    # A line break is a space to a reader.
    words = re.sub(r"(?<!\|)\n(?=\S)", " ", edited)
    (tmp_path / "report.md").write_text(words, encoding="utf-8")
    assert check_figures(tmp_path) == len(left)
    markup = [each for each in markdown_read.complaints(edited) if not each.startswith("h")]
    assert markup == []
