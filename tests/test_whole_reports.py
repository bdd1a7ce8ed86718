"""Every report of the demo and of the corpus, read as a person's tools read it."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import pytest

from pipeline import citation
from pipeline.report.html import evidence
from tests import browser, markdown_read
from tests.conftest import needs_corpus
from tests.results import Results
from tests.test_html import ATTRIBUTES, TAGS, read
from tests.test_report import pages

LARGEST_PAGE = 10_000_000


@pytest.fixture(params=["demo", pytest.param("corpus", marks=[needs_corpus, pytest.mark.slow])])
def out(request: pytest.FixtureRequest) -> Path:
    """The output of either: all of it together."""
    warehouse: Path = request.getfixturevalue(request.param)
    return warehouse.parent


def test_drafts_are_markdown(out: Path) -> None:
    """Headings, tables and comments are whole, and there is no markup but ours."""
    for path in pages(out):
        assert markdown_read.complaints(path.read_text(encoding="utf-8")) == [], path


def test_citations_lead_somewhere(out: Path) -> None:
    """Each rollout that is cited was recorded or expected, and has the event that is meant."""
    results = Results(out)
    runs = frozenset(results.column("select run_id from runs"))
    known = results.rows(
        "select run_id, task_id, rollout_index, n_events from rollouts "
        "union select run_id, task_id, rollout_index, null from expected"
    )
    sizes: dict[tuple[str, str, int], int] = {}
    for *key, n_events in known:
        sizes[tuple(key)] = max(n_events or 0, sizes.get(tuple(key), 0))
    texts = [path.read_text(encoding="utf-8") for path in pages(out)]
    found = evidence.cited(texts, runs)
    assert found
    for each, events in found.items():
        assert all(1 <= seq <= sizes[each.rollout] for seq in events), (each, events)
        assert citation.parse(str(each)) == each


def test_pages_are_whole(out: Path) -> None:
    """Only tags of ours, each closed; ids once; no broken link and none that leads out."""
    for path in out.rglob("report.html"):
        page = read(path.parent)
        assert set(page.tags) <= TAGS and page.attributes <= ATTRIBUTES, path
        assert len(page.ids) == len(set(page.ids)), path
        targets = {unquote(link[1:]) for link in page.links if link.startswith("#")}
        assert targets <= set(page.ids), path
        assert path.stat().st_size < LARGEST_PAGE


@needs_corpus
@pytest.mark.slow
@pytest.mark.skipif(browser.PATH is None, reason="no Chromium is installed")
def test_a_browser_loads_the_corpus_in_silence(corpus: Path, tmp_path: Path) -> None:
    """No message, and no request but for the file itself: of some benchmarks."""
    with browser.tab(tmp_path) as tab:
        for path in sorted(corpus.parent.rglob("report.html"))[::12]:
            tab.requests.clear()
            tab.open(path)
            tab.run("for (const each of document.querySelectorAll('[data-do]')) each.click();")
            assert tab.complaints == [], path
            asked = {url.partition("#")[0] for url in tab.requests if not url.startswith("about:")}
            assert asked <= {path.as_uri(), "data:,"}
