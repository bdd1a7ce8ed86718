"""Document and content -> one HTML file, with all that it needs inside it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2
from markupsafe import Markup

from pipeline.report import charts, marks
from pipeline.report.content import Content
from pipeline.report.html import body
from pipeline.report.html.environment import environment as templates
from pipeline.report.html.evidence import Evidence, cited, collect
from pipeline.report.html.header import MOST_BENCHMARKS, Benchmark, benchmarks
from pipeline.report.html.strips import strips
from pipeline.report.markdown import Document, Written
from pipeline.report.tables import Source

STYLES = ("style.css", "charts.css")
SCRIPT = "script.js"


@dataclass(frozen=True)
class Part:
    """A section of the page, its body already HTML."""

    name: str
    title: str
    body: Markup


@dataclass(frozen=True)
class Page:
    """All that the page's templates print."""

    title: Markup
    opening: Markup
    benchmarks: list[Benchmark]
    most_benchmarks: int
    parts: list[Part]
    evidence: list[Evidence]
    n_cited: int
    style: Markup
    style_hash: str
    script: Markup
    script_hash: str


def render(source: Source, content: Content, document: Document, *, folder: Path | None) -> str:
    """The whole file."""
    environment = templates(folder)
    runs = {run.run_id for run in content.runs}
    wanted = cited((written.text for written in document.sections), runs)
    evidence = collect(source, wanted)
    writer = body.Body(
        _drawing(source, content, environment), frozenset(each.citation for each in evidence)
    )
    style, script = _read(environment, STYLES), _read(environment, [SCRIPT])
    told = Page(
        title=Markup(body.inline(document.title)),
        opening=Markup(body.inline(document.opening)),
        benchmarks=benchmarks(content),
        most_benchmarks=MOST_BENCHMARKS,
        parts=[_part(each, writer) for each in document.sections],
        evidence=evidence,
        n_cited=len(wanted),
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
    )
    return environment.get_template("page.html.j2").render(page=told)


def _part(written: Written, writer: body.Body) -> Part:
    name = written.section.name
    return Part(name, written.section.title, Markup(writer.section(written.text, name=name)))


def _drawing(source: Source, content: Content, environment: jinja2.Environment) -> body.Draw:
    """What stands for the mark of a chart: a picture, or the table of tasks by runs."""
    found = strips(source, content)
    template = environment.get_template("strip.html.j2")

    def draw(mark: str) -> str:
        name, key = marks.chart_key(mark)
        if name != "strip":
            return charts.draw(name, key, content)
        strip = found.get(key.get("benchmark", ""))
        return template.render(strip=strip) if strip else ""

    return draw


def _read(environment: jinja2.Environment, names: Sequence[str]) -> Markup:
    """Files as they are, a user's own before ours."""
    loader = environment.loader
    assert loader is not None
    return Markup("".join(loader.get_source(environment, name)[0] for name in names))


def _hash(text: str) -> str:
    """What the content-security policy lets through: this text and no other."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
