"""A report as one HTML file: the same Markdown, designed."""

from __future__ import annotations

from pathlib import Path

from markdown_it import MarkdownIt

from pipeline.report.content import Content
from pipeline.report.markdown import Document
from pipeline.report.tables import Source


def page(source: Source, content: Content, document: Document, *, folder: Path | None) -> str:
    """The whole file."""
    return str(MarkdownIt("commonmark", {"html": True}).enable("table").render(document.text))
