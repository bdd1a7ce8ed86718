"""Document and content -> one HTML file, with all that it needs inside it."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from pipeline.report import charts, marks, templates
from pipeline.report.comparisons import Comparison, leading
from pipeline.report.content import Content
from pipeline.report.html import body
from pipeline.report.html.evidence import Evidence, cited, collect
from pipeline.report.html.tasks import Strip, strips
from pipeline.report.html.texts import FILTERS
from pipeline.report.markdown import Document, Written
from pipeline.report.tables import Source

STYLES, SCRIPT = ("style.css", "charts.css"), "script.js"
SUMMARY, TASKS = "executive_summary", "task_outcome_buckets"
MOST_BENCHMARKS, MOST_COMPARISONS = 4, 3
# What a fold may hold, and how it begins in HTML.
HELD = {"chart": "<figure", "table": "<table", "card": '<details class="card'}


@dataclass(frozen=True)
class Part:
    """A section of the page: its first paragraph, what is folded below it, and what that holds."""

    name: str
    title: str
    lead: Markup
    body: Markup
    holds: str


@dataclass(frozen=True)
class Benchmark:
    """A benchmark at a glance: what changed, where its runs stand, and why."""

    name: str
    comparisons: list[Comparison]
    charts: Markup


@dataclass(frozen=True)
class Page:
    """All that the page's templates print."""

    title: Markup
    opening: Markup
    benchmarks: list[Benchmark]
    n_benchmarks: int
    summary: list[Part]
    strips: list[Strip]
    parts: list[Part]
    evidence: list[Evidence]
    n_cited: int
    style: Markup
    style_hash: str
    script: Markup
    script_hash: str


def render(source: Source, content: Content, document: Document, *, folder: Path | None) -> str:
    """The whole file."""
    templates_ = environment(folder)
    wanted = cited(
        (written.text for written in document.sections), {run.run_id for run in content.runs}
    )
    evidence = collect(source, wanted)
    drawing = _Drawing(content)
    found = _benchmarks(content, drawing)
    writer = body.Body(drawing.below, frozenset(each.citation for each in evidence))
    parts = [_part(each, writer) for each in document.sections]
    style, script = _read(templates_, STYLES), _read(templates_, [SCRIPT])
    told = Page(
        title=Markup(body.inline(document.title)),
        opening=Markup(body.inline(document.opening)),
        benchmarks=found,
        n_benchmarks=len(content.benchmarks),
        summary=[part for part in parts if part.name == SUMMARY],
        strips=strips(source, content) if any(part.name == TASKS for part in parts) else [],
        parts=[part for part in parts if part.name != SUMMARY],
        evidence=evidence,
        n_cited=len(wanted),
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
    )
    return templates_.get_template("page.html.j2").render(page=told)


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


class _Drawing:
    """Draws each chart once: what stands at the top of the page is linked to below."""

    def __init__(self, content: Content) -> None:
        self.content = content
        self.above: set[str] = set()

    def top(self, name: str, **key: str) -> str:
        drawn = charts.draw(name, key, self.content)
        if drawn:
            self.above.add(charts.svg.figure_id(name, key))
        return drawn

    def below(self, mark: str) -> str:
        name, key = marks.chart_key(mark)
        id_ = charts.svg.figure_id(name, key)
        if id_ in self.above:
            return f'<p class="small"><a href="#{id_}">Chart at the top of the page</a></p>\n'
        return charts.draw(name, key, self.content)


def _benchmarks(content: Content, drawing: _Drawing) -> list[Benchmark]:
    """Those with a verdict first, then those of most runs."""
    found = []
    for name in content.benchmarks:
        own = [each for each in content.comparisons if each.benchmark == name]
        most = MOST_COMPARISONS if len(content.benchmarks) == 1 else 1
        n_runs = sum(run.benchmark == name for run in content.runs)
        is_named = any(each.is_named for each in own)
        found.append(((not is_named, not own, -n_runs, name), leading(own, most)))
    chosen = sorted(found, key=lambda each: each[0])[:MOST_BENCHMARKS]
    return [
        Benchmark(key[-1], compared, Markup(_charts(drawing, key[-1], compared)))
        for key, compared in chosen
    ]


def _charts(drawing: _Drawing, benchmark: str, compared: Sequence[Comparison]) -> str:
    drawn = drawing.top("scores", benchmark=benchmark) + drawing.top("buckets", benchmark=benchmark)
    for each in compared[:1]:
        pair = {"base": each.base, "candidate": each.candidate}
        drawn += drawing.top("waterfall", **pair, metric=each.lead.metric)
    return drawn


def _part(written: Written, writer: body.Body) -> Part:
    name = written.section.name
    lead, rest = map(Markup, writer.section(written.text, name=name))
    counts = {noun: len(re.findall(opening, rest)) for noun, opening in HELD.items()}
    told = [f"{n} {noun}{'' if n == 1 else 's'}" for noun, n in counts.items() if n]
    return Part(name, written.section.title, lead, rest, ", ".join(told))


def _read(environment: jinja2.Environment, names: Sequence[str]) -> Markup:
    """Files as they are, a user's own before ours."""
    loader = environment.loader
    assert loader is not None
    return Markup("".join(loader.get_source(environment, name)[0] for name in names))


def _hash(text: str) -> str:
    """What the content-security policy lets through: this text and no other."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
