"""Relations -> content -> what people and programs read: Markdown, HTML and metrics JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from . import markdown as markdown
from . import sidecar as sidecar
from . import templates
from .comparisons import Comparison as Comparison
from .comparisons import comparisons as comparisons
from .content import Content as Content
from .content import RunContent as RunContent
from .content import benchmarks as benchmarks
from .content import collect as collect
from .content import notices as notices
from .content import runs as runs
from .declared import EVERY as EVERY
from .declared import OF_PAIRS as OF_PAIRS
from .declared import OVERVIEW
from .declared import SECTIONS as SECTIONS
from .declared import TABLES as TABLES
from .declared import Section as Section
from .markdown import ALL_SECTIONS, document
from .tables import Source as Source
from .templates import replaced as replaced


def texts(source: Source, content: Content, *, folder: Path | None = None) -> dict[str, str]:
    """Every text output by its path below the output folder."""
    sidecars = {run.run_id: sidecar.text(sidecar.run_object(run)) for run in content.runs}
    compared = [sidecar.line(each) for each in sidecar.comparison_objects(content.comparisons)]
    written = {"metrics.json": sidecar.document(sidecars.values(), compared)}
    folders = content.folders if len(content.benchmarks) > 1 else {}
    own = {f"benchmarks/{to}/": content.of_benchmark(name) for name, to in folders.items()}
    parts = {"": content, **own}
    pages = [(part, document(part, folder=folder)) for part in parts.values()]
    for place, (_, whole), html in zip(parts, pages, _html(source, pages, folder), strict=True):
        written[f"{place}report.md"] = whole.text
        written[f"{place}report.html"] = html
    # The report on a benchmark of one run is the one on the run.
    alone = {part.runs[0].run_id: place for place, part in own.items() if len(part.runs) == 1}
    for name, metrics in sidecars.items():
        written[f"runs/{name}/report.md"] = (
            written[f"{alone[name]}report.md"]
            if name in alone
            else document(content.only([name]), folder=folder).text
        )
        written[f"runs/{name}/metrics.json"] = metrics
    return written


def page(
    source: Source,
    content: Content,
    *,
    as_html: bool,
    sections: Sequence[Section] = ALL_SECTIONS,
    folder: Path | None = None,
) -> str:
    """One report: the sections asked for, by the templates of a folder before ours."""
    whole = document(content, sections=sections, folder=folder)
    if folder is not None and OVERVIEW in whole.sections:
        # An overview has none of their sections: a mistake in one of them is an error all the same.
        for name in content.benchmarks:
            document(content.of_benchmark(name), folder=folder)
    return _html(source, [(content, whole)], folder)[0] if as_html else whole.text


def check_templates(folder: Path | None) -> None:
    """Check a user's templates before anything takes time."""
    if folder is not None:
        from .html import render

        templates.check(folder, {"markdown": markdown.environment, "html": render.environment})


def _html(
    source: Source, pages: Sequence[tuple[Content, markdown.Document]], folder: Path | None
) -> list[str]:
    # Only a page needs the parser of Markdown: other commands should not wait for it.
    from .html.render import render

    return render(source, pages, folder=folder)
