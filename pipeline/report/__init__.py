"""Relations -> content -> what people and programs read: Markdown, HTML and metrics JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pipeline.report import markdown, sidecar
from pipeline.report.comparisons import Comparison, comparisons
from pipeline.report.content import Content, RunContent, collect, notices, runs
from pipeline.report.markdown import OVERVIEW, SECTIONS, Section, document
from pipeline.report.tables import EVERY as TABLES
from pipeline.report.tables import HEALTH, OF_PAIRS, Source
from pipeline.report.templates import check as check_templates
from pipeline.report.templates import replaced

__all__ = [
    "HEALTH",
    "OF_PAIRS",
    "SECTIONS",
    "TABLES",
    "Comparison",
    "Content",
    "RunContent",
    "Section",
    "Source",
    "check_templates",
    "collect",
    "comparisons",
    "document",
    "markdown",
    "notices",
    "page",
    "replaced",
    "runs",
    "sidecar",
    "texts",
]


def texts(source: Source, content: Content, *, folder: Path | None = None) -> dict[str, str]:
    """Every text output by its path below the output folder."""
    sidecars = {run.run_id: sidecar.text(sidecar.run_object(run)) for run in content.runs}
    written = {
        "metrics.json": sidecar.document(
            sidecars.values(),
            [sidecar.line(found) for found in sidecar.comparison_objects(content.comparisons)],
        ),
    }
    parts = {"": content}
    if len(content.benchmarks) > 1:
        parts |= {
            f"benchmarks/{place}/": content.of_benchmark(name)
            for name, place in content.folders.items()
        }
    pages = [(part, document(part, folder=folder)) for part in parts.values()]
    for place, (_, whole), html in zip(parts, pages, _html(source, pages, folder), strict=True):
        written[f"{place}report.md"] = whole.text
        written[f"{place}report.html"] = html
    for name, told in sidecars.items():
        written[f"runs/{name}/report.md"] = document(content.only([name]), folder=folder).text
        written[f"runs/{name}/metrics.json"] = told
    return written


def page(
    source: Source,
    content: Content,
    *,
    as_html: bool,
    sections: Sequence[Section] = SECTIONS,
    folder: Path | None = None,
) -> str:
    """One report: the sections asked for, by the templates of a folder before ours."""
    whole = document(content, sections=sections, folder=folder)
    if folder is not None and OVERVIEW in whole.sections:
        # An overview has none of their sections: a mistake in one of them is said all the same.
        for name in content.benchmarks:
            document(content.of_benchmark(name), folder=folder)
    return _html(source, [(content, whole)], folder)[0] if as_html else whole.text


def _html(
    source: Source, pages: Sequence[tuple[Content, markdown.Document]], folder: Path | None
) -> list[str]:
    # Only a page needs the parser of Markdown: other commands should not wait for it.
    from pipeline.report.html.render import render

    return render(source, pages, folder=folder)
