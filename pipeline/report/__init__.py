"""Relations -> content -> what people and programs read: Markdown, HTML and metrics JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pipeline.report import account, comparison_json, filters, markdown, sidecar
from pipeline.report.comparisons import Comparison, comparisons
from pipeline.report.content import Content, RunContent, collect, notices, runs
from pipeline.report.own_templates import check as check_templates
from pipeline.report.own_templates import explained, refuse_long, replaced
from pipeline.report.sections import OVERVIEW, SECTIONS, Section
from pipeline.report.tables import EVERY as TABLES
from pipeline.report.tables import HEALTH, OF_PAIRS, Source

MOST_NAMED = 4

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
    "comparison_json",
    "comparisons",
    "markdown",
    "notices",
    "page",
    "replaced",
    "runs",
    "texts",
]


def texts(source: Source, content: Content, *, folder: Path | None = None) -> dict[str, str]:
    """Every text output by its path below the output folder."""
    sidecars = {run.run_id: sidecar.text(sidecar.run_object(run)) for run in content.runs}
    written = {
        "metrics.json": sidecar.document(
            sidecars.values(),
            [sidecar.line(found) for found in comparison_json.objects(content.comparisons)],
        ),
    }
    parts = {"": content}
    if len(content.benchmarks) > 1:
        parts |= {
            f"benchmarks/{place}/": content.of_benchmark(name)
            for name, place in content.folders.items()
        }
    for place, part in parts.items():
        whole = document(part, folder=folder)
        written[f"{place}report.md"] = whole.text
        written[f"{place}report.html"] = _html(source, part, whole, folder)
    for part in content.each():
        (run,) = part.runs
        written[f"runs/{run.run_id}/report.md"] = document(part, folder=folder).text
        written[f"runs/{run.run_id}/metrics.json"] = sidecars[run.run_id]
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
    if folder is not None and whole.sections[0].section is OVERVIEW:
        # An overview has none of their sections: a mistake in one of them is said all the same.
        for name in content.benchmarks:
            document(content.of_benchmark(name), folder=folder)
    return _html(source, content, whole, folder) if as_html else whole.text


def _html(source: Source, content: Content, whole: markdown.Document, folder: Path | None) -> str:
    full = [
        replace(each, text=f"{each.text}\n\n{account.tables(each.section.name, content)}".strip())
        for each in whole.sections
    ]
    # Only a page needs the parser of Markdown: other commands should not wait for it.
    from pipeline.report.html.render import render

    with explained(folder):
        text = render(source, content, replace(whole, sections=full), folder=folder)
    text = text.replace(filters.PIPE, "|").replace(filters.OPENING, "&lt;!--")
    refuse_long(len(text), folder)
    return text


def document(
    content: Content, *, sections: Sequence[Section] = SECTIONS, folder: Path | None = None
) -> markdown.Document:
    """The report on a benchmark or a run; of several benchmarks an overview."""
    if len(content.benchmarks) > 1 and tuple(sections) == SECTIONS:
        sections = (OVERVIEW,)
    with explained(folder):
        made = markdown.document(content, title=_title(content), sections=sections, folder=folder)
    refuse_long(sum(len(each.text) for each in made.sections), folder)
    return made


def _title(content: Content) -> str:
    names = content.benchmarks
    if len(content.runs) == 1:
        (run,) = content.runs
        return f"{filters.ref(run.run_id)} on {filters.ref(run.benchmark)}"
    if len(names) > MOST_NAMED:
        return f"Evaluation report: {len(content.runs)} runs of {len(names)} benchmarks"
    return "Evaluation report: " + ", ".join(filters.ref(name) for name in names)
