"""A curated report -> the HTML page of it: figures with their queries, citations with evidence.

The report is a person's Markdown. Marks are put behind the figures that its sources bind, as a
draft has them, so that one writer makes both pages; marks that the text brings along are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.package.answers import Opened
from pipeline.package.blocks import Block, Report, Span, code_spans, edited, heads_of, plain, read
from pipeline.package.evidence import passages
from pipeline.package.findings import CONTRADICTED, Finding
from pipeline.package.sources import Source, sources_of
from pipeline.package.verify import summary
from pipeline.report.figures import BOUND, MARK, encoded
from pipeline.report.filters import CHART, literal
from pipeline.report.html.render import Curated, curated

# A query that ends otherwise than with its conditions takes no more of them.
ENDED = re.compile(r"\b(?:group|order)\s+by\b|\blimit\b", re.IGNORECASE)
HEADING = re.compile(r" {0,3}(#{1,2})[ \t]")
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
    heads: list[tuple[int, int, str]] = []
    for block in report.blocks:
        match = HEADING.match(lines[block.line - 1]) if block.kind == "heading" else None
        if match:
            heading = lines[block.line - 1][match.end() :].strip().rstrip("#").rstrip()
            heads.append((block.line, len(match[1]), heading))
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
        places = (
            _of_table(report, block, sources) if block.kind == "table" else _of_text(block, sources)
        )
        for place, query in places:
            yield place, place, f"<!--blade:sql?{encoded(query)}#1-->"


def _of_text(block: Block, sources: list[Source]) -> Iterator[tuple[int, str]]:
    free = list(block.tokens)
    for source in sources:
        for pair in source.pairs:
            token = next((each for each in free if each.text == pair.text), None)
            if token is not None:
                free.remove(token)
                yield (
                    token.end,
                    _query(source, [pair.expression]) if pair.expression else source.query,
                )


def _of_table(report: Report, block: Block, sources: list[Source]) -> Iterator[tuple[int, str]]:
    heads = heads_of(block)
    for row in block.rows:
        taken: set[int] = set()
        # A row that a source names by a word of its own, such as total, is that source's.
        for source in sorted(sources, key=lambda each: not _is_named(each)):
            where = _where(report, source, heads, row)
            if where is None:
                continue
            below: dict[int, list[str]] = {}
            for expression, head in source.columns:
                if plain(head) in heads:
                    below.setdefault(heads.index(plain(head)), []).append(expression)
            for place, expressions in below.items():
                if place >= len(row) or place in taken:
                    continue
                taken.add(place)
                tokens = block.tokens_within(row[place].start, row[place].end)
                is_each = len(tokens) == len(expressions)
                for no, token in enumerate(tokens):
                    columns = [expressions[no]] if is_each else expressions
                    yield token.end, _query(source, columns, where)


def _is_named(source: Source) -> bool:
    return any(expression.startswith("'") for expression, _ in source.keys)


def _where(report: Report, source: Source, heads: list[str], row: tuple[Span, ...]) -> str | None:
    """The conditions by which a row is found; none where it is no row of the source."""
    conditions = []
    for expression, head in source.keys:
        place = heads.index(plain(head)) if plain(head) in heads else len(row)
        if place >= len(row):
            return None
        cell = report.text[row[place].start : row[place].end]
        codes = code_spans(cell)
        # A cell may go on behind the name that it begins with.
        is_name = len(codes) == 1 and "||" not in expression
        text = plain(cell[slice(*codes[0])] if is_name else cell)
        if expression.startswith("'"):
            if expression.strip("'") != text:
                return None
        elif codes or " " not in text:
            conditions.append(f"{expression} = {literal(text)}")
        else:
            conditions.append(f"replace({expression}, '_', ' ') = {literal(text)}")
    return " and ".join(conditions)


def _query(source: Source, expressions: list[str], where: str = "") -> str:
    """The query of some columns of a source, of one row of it."""
    rest = source.behind
    wanted = f"select {', '.join(expressions)} {rest}"
    if not where or ENDED.search(_outer(rest)):
        return wanted
    also = "and" if re.search(r"\bwhere\b", _outer(rest), re.IGNORECASE) else "where"
    return f"{wanted} {also} {where}"


def _outer(query: str) -> str:
    """A query without its texts in quotes and its brackets."""
    rest = re.sub(r"'[^']*'", "", query)
    while (shorter := re.sub(r"\([^()]*\)", "", rest)) != rest:
        rest = shorter
    return rest
