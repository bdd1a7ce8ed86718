"""The templates of the page: everything is escaped that is not markup of ours."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from pipeline.report import templates
from pipeline.report.html import body
from pipeline.report.html.texts import FILTERS


@cache
def environment(folder: Path | None = None) -> jinja2.Environment:
    """With the filters of Markdown, so that a figure reads the same in both, and a few more."""
    made = templates.environment("html", folder, autoescape=True)
    made.filters |= {name: _inlined(written) for name, written in templates.FILTERS.items()}
    made.filters |= FILTERS
    made.globals |= {name: _inlined(written) for name, written in templates.GLOBALS.items()}
    return made


def _inlined(written: Callable[..., Any]) -> Callable[..., Any]:
    """What writes a line of Markdown, for a page."""

    def inline(*values: Any, **options: Any) -> Any:
        told = written(*values, **options)
        return Markup(body.inline(told)) if isinstance(told, str) else told

    return inline
