"""A report as one HTML file: the full account; it asks nothing of any network."""

from __future__ import annotations

from pathlib import Path

from pipeline.report.content import Content
from pipeline.report.markdown import Document
from pipeline.report.tables import Source


def page(source: Source, content: Content, document: Document, *, folder: Path | None) -> str:
    """The whole file."""
    # Only a page needs the parser of Markdown: other commands should not wait for it.
    from pipeline.report.html.render import render

    return render(source, content, document, folder=folder)
