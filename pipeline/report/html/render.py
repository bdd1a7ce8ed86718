"""Document and content -> one HTML file, with all that it needs inside it."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
from markupsafe import Markup

from ...citation import Citation
from .. import aliases, charts, filters, markdown, templates
from ..comparisons import Comparison, leading, telling
from ..content import Content
from ..declared import METRICS, TABLES, Section, Table, plain_words
from ..figures import MARK, Figure, Row, grouped
from ..markdown import Document
from ..tables import Source
from . import body
from .body import Grid
from .evidence import Evidence, cited, collect
from .tasks import Strip, paths, strips

# Sections that are not folded, and the one that every task goes with.
OPEN, TASKS = ("executive_summary", "overview"), "task_outcome_buckets"
MOST_BENCHMARKS, MOST_COMPARISONS, MOST_CHANGES = 4, 3, 8
# Ids that the page itself has.
RESERVED = ("content", "evidence", "preface", "status", "tasks", "where")
MOST_ROWS = 300
# Columns of the account that are words, not names.
PLAIN = frozenset({"metric", "policy", "measure", "outcome", "status", "reason", "stage", "title"})
# What a fold may hold, and how it begins in HTML.
PARTS = {"chart": "<figure", "table": "<table", "card": '<details class="card'}


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
class Suite:
    """Entrants by benchmarks: each standing with its cells, and what moved."""

    # The page of each benchmark.
    links: Mapping[str, str]
    rows: Sequence[tuple[Row, Sequence[Row]]]
    # Changes over the suite, each with its benchmarks, those that decide first.
    changes: Sequence[tuple[Row, Sequence[Row]]]
    n_changes: int
    notes: int
    # Whether any two entrants have a benchmark in common.
    has_shared: bool
    has_single: bool


@dataclass(frozen=True)
class Page:
    """All that the page's templates print."""

    title: Markup
    summary: list[Part]
    evidence: list[Evidence]
    n_cited: int
    # The text of each, and the hash by which the content-security policy lets it through.
    style: tuple[Markup, str]
    script: tuple[Markup, str]
    # Of a draft.
    opening: str = ""
    benchmarks: Sequence[Benchmark] = ()
    n_benchmarks: int = 0
    suite: Suite | None = None
    strips: Sequence[Strip] = ()
    parts: Sequence[Part] = ()
    # Of a curated report: what comes before its first section, and how it was compared.
    preface: str = ""
    curated: Curated | None = None


@dataclass(frozen=True)
class Curated:
    """A person's report: its parts with marks of figures, and what its comparison found."""

    title: str
    preface: str
    # Each with its heading.
    sections: list[tuple[str, str]]
    # What it was compared with, in words; how many claims hold, and those that do not.
    against: str
    counts: Mapping[str, Any]
    wrong: Sequence[Any]
    has_data: bool = False


class Draft(NamedTuple):
    """What a page is made of: sections with the tables of their account, and what they cite."""

    content: Content
    document: Document
    sections: dict[Section, str]
    tables: dict[str, Grid]
    cited: dict[Citation, set[int]]


@dataclass(frozen=True)
class Drawing:
    """Draws each chart once: where it would stand again there is a link to it."""

    content: Content
    tables: Mapping[str, Grid]
    drawn: set[str] = field(default_factory=set)

    def chart(self, name: str, **key: str) -> str:
        id_ = charts.svg.figure_id(name, key)
        if id_ in self.drawn:
            return f'<p class="small"><a href="#{id_}">Chart: see above</a></p>\n'
        if chart := charts.draw(name, key, self.content):
            self.drawn.add(id_)
        return chart

    def placed(self, mark: str) -> str | Grid:
        """A table, or the chart of a mark; of the only benchmark where none is named."""
        name, key = filters.chart_key(mark)
        if name == "account":
            return self.tables[key["table"]]
        names = self.content.benchmarks
        return self.chart(name, **(key or {"benchmark": names[0]} if len(names) == 1 else key))


def render(
    source: Source, pages: Iterable[tuple[Content, Document]], *, folder: Path | None
) -> list[str]:
    """The whole file of each page; what all of them cite is read at once."""
    drafts = [_draft(*page, folder) for page in pages]
    evidence = collect(source, [draft.cited for draft in drafts])
    return [_page(source, *each, folder) for each in zip(drafts, evidence, strict=True)]


def _draft(content: Content, document: Document, folder: Path | None) -> Draft:
    sections: dict[Section, str] = {}
    tables: dict[str, Grid] = {}
    # What may be cited: sections, and names in their tables.
    texts: list[str] = []
    for section, text in document.sections.items():
        places, own = account(section, content, folder)
        sections[section] = f"{text}\n\n{places}".strip()
        tables |= own
        cells = (cell for rows, _ in own.values() for row in rows for cell in row if "`" in cell)
        texts += [text, *dict.fromkeys(cells)]
    runs = {run.run_id for run in content.runs}
    return Draft(content, document, sections, tables, cited(texts, runs))


def _page(source: Source, draft: Draft, evidence: list[Evidence], folder: Path | None) -> str:
    content = draft.content
    drawing = Drawing(content, draft.tables)
    # Before the sections: a chart is drawn where it first is.
    benchmarks = _benchmarks(content, drawing)
    writer = body.Body(drawing.placed, {target for each in evidence for target in each.targets})
    parts = [_part(*each, writer) for each in draft.sections.items()]
    text = _written(
        folder,
        title=Markup(body.inline(draft.document.title)),
        opening=Markup(body.inline(draft.document.opening)),
        benchmarks=benchmarks,
        n_benchmarks=len(content.benchmarks),
        suite=_suite(content),
        summary=[part for part in parts if part.name in OPEN],
        strips=strips(source, content) if any(part.name == TASKS for part in parts) else [],
        parts=[part for part in parts if part.name not in OPEN],
        evidence=evidence,
        n_cited=len(draft.cited),
    )
    return aliases.in_html(text, content.aliases)


def _written(folder: Path | None, **fields: Any) -> str:
    templates_ = environment(folder)
    style, script = _asset(templates_, "style.css", "charts.css"), _asset(templates_, "script.js")
    page = Page(**fields, style=style, script=script)
    with templates.explained(folder):
        text = templates_.get_template("page.html.j2").render(page=page)
    text = text.replace(filters.PIPE, "|").replace(filters.OPENING, "&lt;!--")
    templates.refuse_long(len(text), folder)
    return text


def curated(report: Curated, source: Source | None) -> str:
    """The page of a person's report: nothing is folded, and nothing is drawn that it has not."""
    names = {} if source is None else aliases.read(source)
    full = {alias: name for name, alias in names.items()}
    sections = [(title, aliases.in_markdown(text, full)) for title, text in report.sections]
    texts = [aliases.in_markdown(report.preface, full), *(text for _, text in sections)]
    citations: dict[Citation, set[int]] = {}
    evidence: list[Evidence] = []
    if source is not None:
        runs = {run for (run,) in source.execute("select run_id from main.runs").fetchall()}
        citations = cited(texts, runs)
        evidence = collect(source, [citations])[0]
    writer = body.Body(lambda _: "", {target for each in evidence for target in each.targets})
    used = set(RESERVED)
    parts = []
    for title, text in sections:
        slug = re.sub(r"[^a-z0-9]+", "_", MARK.sub("", title).lower()).strip("_")[:80]
        name = filters.unused(slug or "section", used)
        used.add(name)
        lead, rest = map(Markup, writer.section(text, name=name))
        parts.append(Part(name, Markup(writer.line(title)), lead, rest, ""))
    page = _written(
        None,
        title=Markup(writer.line(report.title)),
        summary=parts,
        evidence=evidence,
        n_cited=len(citations),
        preface=Markup("".join(writer.section(texts[0], name="preface"))),
        curated=replace(report, has_data=source is not None),
    )
    return aliases.in_html(page, names)


@cache
def environment(folder: Path | None = None) -> jinja2.Environment:
    """With the filters of Markdown, so that a figure reads the same in both, and a few more."""
    created = templates.environment("html", folder, autoescape=True)
    created.filters |= {name: _inlined(written) for name, written in filters.FILTERS.items()}
    created.filters |= {**filters.OF_PAGES, "paths": paths}
    created.globals |= {
        name: _inlined(each) if callable(each) else each for name, each in filters.GLOBALS.items()
    }
    return created


def _inlined(written: Callable[..., Any]) -> Callable[..., Any]:
    """What writes a line of Markdown, for a page."""

    def inline(*values: Any, **options: Any) -> Any:
        line = written(*values, **options)
        return Markup(body.inline(line)) if isinstance(line, str) else line

    return inline


def _benchmarks(content: Content, drawing: Drawing) -> list[Benchmark]:
    """Those with a verdict first, then those of most runs."""
    own = {
        name: [each for each in content.comparisons if each.benchmark == name]
        for name in content.benchmarks
    }
    counts = Counter(run.benchmark for run in content.runs)

    def rank(name: str) -> tuple[bool, bool, int, str]:
        return not any(each.is_named for each in own[name]), not own[name], -counts[name], name

    most = MOST_COMPARISONS if len(own) == 1 else 1
    benchmarks = []
    for name in sorted(own, key=rank)[:MOST_BENCHMARKS]:
        compared = leading(telling(own[name]), most)
        drawn = [drawing.chart(chart, benchmark=name) for chart in ("scores", "buckets")]
        for each in compared[:1]:
            pair = {"base": each.base, "candidate": each.candidate}
            drawn.append(drawing.chart("waterfall", **pair, metric=each.lead.metric))
        benchmarks.append(Benchmark(name, compared, Markup("".join(drawn))))
    return benchmarks


def _suite(content: Content) -> Suite | None:
    """The suite of an overview; a report on one benchmark has none."""
    standings = [row for row in content.suite_standings if row.values["benchmark"] is None]
    if len(content.benchmarks) < 2 or not standings:
        return None
    cells = grouped(content.suite_cells, "entrant")
    links = {
        name: f"benchmarks/{content.folders[name]}/report.html"
        for name in sorted({row.values["benchmark"] for row in content.suite_cells})
        if name in content.folders
    }
    single: dict[tuple[str, str], list[Row]] = {}
    whole = []
    for row in content.suite_comparisons:
        if row.values["benchmark"] is None:
            whole.append(row)
        else:
            single.setdefault((row.values["base"], row.values["candidate"]), []).append(row)
    named = [row for row in whole if row.values["is_named"]]
    shown = named or [row for row in whole if row.values["verdict"] in ("improved", "regressed")]
    return Suite(
        links=links,
        rows=[(row, cells[row.values["entrant"]]) for row in standings],
        changes=[
            (
                row,
                sorted(
                    single.get((row.values["base"], row.values["candidate"]), []),
                    key=lambda each: (not each.values["is_decisive"], each.values["benchmark"]),
                ),
            )
            for row in shown[:MOST_CHANGES]
        ],
        n_changes=len(shown),
        notes=len(content.suite_notes),
        has_shared=any(row.values["n_benchmarks"] for row in whole),
        has_single=any(row.values["n_tasks"] > 1 for rows in single.values() for row in rows),
    )


def _part(section: Section, text: str, writer: body.Body) -> Part:
    lead, rest = map(Markup, writer.section(text, name=section.name))
    counts = {noun: len(re.findall(opening, rest)) for noun, opening in PARTS.items()}
    counted = [f"{n} {noun}{'' if n == 1 else 's'}" for noun, n in counts.items() if n]
    return Part(section.name, section.title, lead, rest, ", ".join(counted))


@cache
def _asset(environment: jinja2.Environment, *names: str) -> tuple[Markup, str]:
    """Files as they are, a user's own before ours, and their hash."""
    assert environment.loader is not None
    text = "".join(environment.loader.get_source(environment, name)[0] for name in names)
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return Markup(text), f"sha256-{digest}"


def account(section: Section, content: Content, folder: Path | None) -> tuple[str, dict[str, Grid]]:
    """The full account: the place of each table of a section in Markdown, and the tables."""
    shown: list[dict[str, Any]] = []
    tables: dict[str, Grid] = {}
    for table in (each for each in TABLES.values() if each.section == section.name):
        rows = _rows(table, content)
        # Without columns that nothing is in.
        columns = [
            name
            for name in table.columns
            if any(row.values[name] not in (None, "", []) for row in rows)
        ]
        if columns:
            is_cut = len(rows) > MOST_ROWS
            relation, title = rows[0].relation, table.title
            shown.append(
                {"table": table.name, "title": title, "is_cut": is_cut, "relation": relation}
            )
            cells = [[_cell(row, name) for name in columns] for row in rows[:MOST_ROWS]]
            heads = [
                METRICS[name].words if name in METRICS else plain_words(name) for name in columns
            ]
            tables[table.name] = ([heads, *cells], [name in METRICS for name in columns])
    with templates.explained(folder):
        template = markdown.environment(folder).get_template("account.md.j2")
        return template.render(tables=shown), tables


def _rows(table: Table, content: Content) -> list[Row]:
    """The rows of a table about the runs or pairs of a report."""
    if table.of != "pair":
        return list(getattr(content, table.name))
    return [row for each in content.comparisons for row in each.tables[table.name]]


def _cell(row: Row, name: str) -> str:
    value = getattr(row, name)
    if isinstance(value, Figure):
        form = METRICS[name].format if name in METRICS else "num"
        return "" if value.value is None else str(filters.FILTERS[form](value))
    if isinstance(value, list):
        return filters.VOICE.listed(value)
    return (filters.cell if value == "" or name in PLAIN else filters.ref)(str(value))
