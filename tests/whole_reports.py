"""What must hold of the reports of any output folder, read as a person's tools read them."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from pipeline import citation
from pipeline.report.html import evidence
from tests import markdown_read
from tests.results import Results
from tests.test_html import ATTRIBUTES, TAGS, read
from tests.test_report import check_figures, pages

LARGEST_PAGE = 10_000_000


def check(out: Path) -> None:
    """Markdown and page are well-formed; citations, figures and links lead somewhere."""
    texts = [path.read_text(encoding="utf-8") for path in pages(out)]
    assert [markdown_read.complaints(text) for text in texts] == [[]] * len(texts)
    check_citations(out, texts)
    check_figures(out)
    check_page(out)


def check_citations(out: Path, texts: list[str]) -> None:
    """Each rollout that is cited was recorded or expected, and has the event that is meant."""
    results = Results(out)
    runs = frozenset(results.column("select run_id from runs"))
    known = results.rows(
        "select run_id, task_id, rollout_index, n_events from rollouts "
        "union select run_id, task_id, rollout_index, null from expected"
    )
    sizes: dict[tuple[str, str, int], int] = {}
    for run_id, task_id, index, n_events in known:
        key = (run_id, task_id, index)
        sizes[key] = max(n_events or 0, sizes.get(key, 0))
    for each, events in evidence.cited(texts, runs).items():
        key = (each.run_id, each.task_id, each.rollout_index)
        assert key in sizes, each
        assert all(1 <= seq <= sizes[key] for seq in events), (each, events)
        assert citation.parse(str(each)) == each


def check_page(out: Path) -> None:
    """Only tags of ours, each closed; ids once; no link that leads nowhere or out."""
    page = read(out)
    assert set(page.tags) <= TAGS and page.attributes <= ATTRIBUTES
    assert len(page.ids) == len(set(page.ids))
    targets = {unquote(link[1:]) for link in page.links if link.startswith("#")}
    assert targets <= set(page.ids)
    assert (out / "report.html").stat().st_size < LARGEST_PAGE
