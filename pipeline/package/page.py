"""A curated report -> the HTML page of it: figures with their queries, citations with evidence.

The report is a person's Markdown. Marks are put behind the figures that its sources bind, as a
draft has them, so that one writer makes both pages; marks that the text brings along are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..report.figures import BOUND, MARK, encoded
from ..report.filters import CHART
from ..report.html.render import Curated, curated
from .blocks import Block, Report, edited, heads_of, plain, read
from .findings import CONTRADICTED, Finding
from .passages import passages
from .queries import Opened
from .sources import Source, sources_of
from .verify import summary

HEADING = re.compile(r"^ {0,3}#+[ \t]")
UNTITLED = "Report"


def page(text: str, source: Opened | None, findings: list[Finding], against: str) -> str:
    """The page; `findings` is what verify found, `against` what it compared the report with."""
    bare = CHART.sub("", BOUND.sub("", MARK.sub("", text)))
    report = read(bare)
    marked = edited(bare, [*_marks(report), *_quoted(report)])
    title, preface, sections = _parts(marked, report)
    counts = summary(findings)
    wrong = [each for each in findings if each.status == CONTRADICTED]
    return curated(
        Curated(title, preface, sections, against, counts, wrong),
        source,
    )


def _parts(text: str, report: Report) -> tuple[str, str, list[tuple[str, str]]]:
    """The title, what comes before the first section, and each section with its heading."""
    lines = text.split("\n")
    heads = [
        (block.line, block.level, HEADING.sub("", lines[block.line - 1]).strip().rstrip("# "))
        for block in report.blocks
        if 0 < block.level < 3
    ]
    first = next((heading for _, level, heading in heads if level == 1), UNTITLED)
    # A second title opens a section too: nothing of the text is left out.
    titled = next((line for line, level, _ in heads if level == 1), 0)
    starts = [(line, heading) for line, _, heading in heads if line != titled]
    until = starts[0][0] - 1 if starts else len(lines)
    before = "\n".join(line for no, line in enumerate(lines[:until], start=1) if no != titled)
    if not starts:
        return first, "", [(UNTITLED, before)]
    ends = [*(line - 1 for line, _ in starts[1:]), len(lines)]
    sections = [
        (heading, "\n".join(lines[line:end]))
        for (line, heading), end in zip(starts, ends, strict=True)
    ]
    return first, before.strip("\n"), sections


def _quoted(report: Report) -> Iterator[tuple[int, int, str]]:
    """Backquotes around citations that have none: these are what leads to evidence."""
    for passage in passages(report):
        if passage.block.kind == "heading":
            continue
        codes = {(start, end) for start, end, _ in passage.codes}
        for start, end, _ in passage.cites:
            if (start, end) not in codes:
                yield start, start, "`"
                yield end, end, "`"


def _marks(report: Report) -> Iterator[tuple[int, int, str]]:
    """A mark behind every figure that a source binds: the query that gives it."""
    for block in report.blocks:
        sources = [source for source in sources_of(block) if not source.fault]
        is_table = block.kind == "table"
        places = _of_table(block, sources) if is_table else _of_text(block, sources)
        for place, query in places:
            yield place, place, f"<!--blade:sql?{encoded(query)}#1-->"


def _of_text(block: Block, sources: list[Source]) -> Iterator[tuple[int, str]]:
    free = list(block.tokens)
    for source in sources:
        for pair in source.pairs:
            token = next((each for each in free if each.text == pair.text), None)
            if token is not None:
                free.remove(token)
                one = f"select {pair.expression} {source.behind}"
                yield token.end, one if pair.expression else source.query


def _of_table(block: Block, sources: list[Source]) -> Iterator[tuple[int, str]]:
    """The query of a cell gives its column, beside the keys of all rows."""
    heads = heads_of(block)
    for row in block.rows:
        cells = {plain(span.text) for span in row}
        queries: dict[int, str] = {}
        for source in sources:
            keys = [expression for expression, _ in source.keys]
            # A source may be of the one row that it names by a word of its own, such as 'total'.
            words = {key.strip("'") for key in keys if key.startswith("'")}
            for place, head in enumerate(heads) if words <= cells else ():
                columns = [column for column, own in source.columns if plain(own) == head]
                if columns and (words or place not in queries):
                    queries[place] = f"select {', '.join([*keys, *columns])} {source.behind}"
        for place, span in enumerate(row):
            for token in block.tokens_within(span.start, span.end) if place in queries else ():
                yield token.end, queries[place]
