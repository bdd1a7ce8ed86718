"""The sentences and rows of a report, each with what it cites and which tasks it names."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from pipeline import citation
from pipeline.citation import Citation
from pipeline.report.blocks import Block, Report, Span, code_spans, masked

# A path, an address or a piece of code has the shape of a citation too; so have a day and an hour.
NO_RUN = re.compile(r"[\s:\"'{}()<>=|\\]")
FILE_NAME = re.compile(r"\.[A-Za-z]{1,5}\Z")
DAY = re.compile(r"(?<!\d)\d{1,2}/\d{1,2}/\d{2,4}(?!\d)")
BARE = re.compile(
    r"(?<![\w/.`-])[\w.-]{1,100}/[^\s/|()\[\]\"'`,;]{1,200}:\d{1,9}(?:#\d{1,9})?(?![\w/:`])"
)
SENTENCE_END = re.compile(r"[.!?][\"')\]\x01]*\s+(?=[^\sa-z])")
TASK_BEFORE = re.compile(
    r"\btasks?\s+(?:`[^`\n]{1,200}`(?:,| and|, and| or)\s+){0,50}\Z", re.IGNORECASE
)
TASK_HEADS = ("task", "task id", "task_id", "instance", "instance id", "instance_id")
TASK_TITLE = re.compile(r"\s*tasks?\s+(?P<name>`[^`]+`|\d[\w-]*)", re.IGNORECASE)
ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


@dataclass(frozen=True, eq=False)
class Unit:
    """A heading, a sentence or a row of a table."""

    report: Report
    block: Block
    spans: tuple[Span, ...]

    @property
    def is_row(self) -> bool:
        """Whether it is a row of a table."""
        return self.block.kind == "table"

    @property
    def line(self) -> int:
        """The line it begins on."""
        return self.report.line_at(self.spans[0].start)

    @cached_property
    def codes(self) -> list[tuple[Span, int, int, str]]:
        """Code spans: where each stands, without its backquotes, and what it says."""
        found = []
        for span in self.spans:
            text = self.raw(span)
            for start, end in code_spans(text):
                told = text[start:end].strip("`")
                # In a table a pipe is escaped, in code too.
                told = told.replace("\\|", "|") if self.is_row else told
                found.append((span, span.start + start, span.start + end, told.strip() or told))
        return found

    @cached_property
    def cites(self) -> list[tuple[Span, int, int, Citation]]:
        """What it cites, in order, with the places."""
        found = [(span, start, end, _parsed(told)) for span, start, end, told in self.codes]
        for span in self.spans:
            for match in BARE.finditer(masked(self.report.text, span)):
                start, end = span.start + match.start(), span.start + match.end()
                found.append((span, start, end, _parsed(match[0])))
        told = [(span, start, end, each) for span, start, end, each in found if each]
        return sorted(told, key=lambda each: each[1])

    @cached_property
    def tasks(self) -> list[tuple[int, str]]:
        """Tasks that it names by form: in code behind the word, or in a column of tasks."""
        found = []
        for span, start, _, told in self.codes:
            before = self.report.text[max(span.start, start - 400) : start]
            is_named = head(span) in TASK_HEADS or TASK_BEFORE.search(before)
            if is_named and _parsed(told) is None:
                found.append((start, told))
        return found

    def raw(self, span: Span) -> str:
        """A span as it is written."""
        return self.report.text[span.start : span.end]

    @property
    def text(self) -> str:
        """All of it as it is written."""
        return self.report.text[self.spans[0].start : self.spans[-1].end]


def units(report: Report) -> list[Unit]:
    """All of a report in order."""
    return [
        Unit(report, block, part)
        for block in report.blocks
        for row in block.rows
        for part in ([row] if block.kind == "table" else sentences(report, row))
        if part
    ]


def head(span: Span) -> str:
    """The head of a cell's column in plain small letters."""
    return " ".join(re.sub(r"[*_`]", " ", span.head).split()).casefold()


def title_task(title: str) -> str | None:
    """The task that a heading names first."""
    match = TASK_TITLE.match(title)
    return match["name"].strip("`").rstrip("-") if match else None


def visible(text: str) -> str:
    """What a reader sees of Markdown, but for backquotes."""
    return html.unescape(ESCAPE.sub(r"\1", text))


def sentences(report: Report, row: tuple[Span, ...]) -> Iterator[tuple[Span, ...]]:
    """The sentences of a paragraph or an item."""
    for span in row:
        seen, start = masked(report.text, span), 0
        for match in SENTENCE_END.finditer(seen):
            yield (Span(span.start + start, span.start + match.end()),)
            start = match.end()
        if seen[start:].strip():
            yield (Span(span.start + start, span.end),)


def _parsed(told: str) -> Citation | None:
    each = citation.parse(told)
    if each is None or NO_RUN.search(each.run_id) or FILE_NAME.search(each.task_id):
        return None
    return None if DAY.search(f"{each.run_id}/{each.task_id}") else each
