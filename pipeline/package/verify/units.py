"""The sentences and rows of a report, each with what it cites and which tasks it names."""

from __future__ import annotations

import html
import os
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pipeline import citation
from pipeline.citation import Citation
from pipeline.package.blocks import QUOTED, Block, Report, Span, Token, code_spans, masked

FORMS = tomllib.loads(Path(__file__).with_name("forms.toml").read_text(encoding="utf-8"))
HEADS, CELLS, SAID = (
    {name: re.compile(told, re.IGNORECASE) for name, told in FORMS[kind].items()}
    for kind in ("heads", "cells", "said")
)
SENTENCE_END = re.compile(r"[.!?][\"')\]\x01]*\s+(?=[^\sa-z])")
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
            for match in SAID["bare"].finditer(masked(self.report.text, span)):
                start, end = span.start + match.start(), span.start + match.end()
                found.append((span, start, end, _parsed(match[0])))
        told = [(span, start, end, each) for span, start, end, each in found if each]
        return sorted(told, key=lambda each: each[1])

    @property
    def cited(self) -> list[Citation]:
        """The same without the places."""
        return [each for *_, each in self.cites]

    @cached_property
    def tasks(self) -> list[tuple[int, str]]:
        """Tasks that it names by form: in code behind the word, or in a column of tasks."""
        found = []
        for span, start, _, told in self.codes:
            before = self.report.text[max(span.start, start - 400) : start]
            is_named = is_headed(span, "task") or SAID["task_before"].search(before)
            if is_named and _parsed(told) is None:
                found.append((start, told))
        return found

    def label(self, span: Span, start: int) -> str:
        """`pass` or `fail` where that stands before a citation, as in `pass: RUN/TASK:ROLLOUT`."""
        match = SAID["label"].search(self.report.text, max(span.start, start - 12), start)
        return match["word"].lower() if match else ""

    @property
    def listed_tasks(self) -> list[str]:
        """The tasks of the first cell that lists some: `tasks 3, 4 and 7`."""
        matches = (CELLS["tasks"].fullmatch(self.raw(span)) for span in self.spans)
        found = next((match["names"] for match in matches if match), "")
        return re.split(r",? and\s+|,\s+", found) if found else []

    @cached_property
    def quotes(self) -> list[tuple[Span, int, int, str]]:
        """Words in quotation marks: the places of these, and what stands between them."""
        found = []
        for span in self.spans:
            text = seen = self.raw(span)
            # A quotation mark within code is none.
            for start, end in code_spans(text):
                seen = seen[:start] + seen[start:end].replace('"', "\x01") + seen[end:]
            for match in QUOTED.finditer(seen):
                start, end = match.span()
                told = visible(text[start + 1 : end - 1]).replace("`", "")
                found.append((span, span.start + start, span.start + end, told))
        return found

    @cached_property
    def tokens(self) -> list[Token]:
        """Its figures."""
        return self.block.tokens_within(self.spans[0].start, self.spans[-1].end)

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


def short_names(runs: Iterable[str]) -> dict[str, str]:
    """Each run with its name as people write it: without what all of them begin with."""
    known = sorted(set(runs))
    shared = os.path.commonprefix(known) if len(known) > 1 else ""  # noqa: RUF071  no paths
    return {run: run.removeprefix(shared[: shared.rfind("_") + 1]) for run in known}


def is_headed(span: Span, name: str) -> bool:
    """Whether a cell stands in a column of this form."""
    return HEADS[name].fullmatch(head(span)) is not None


def title_task(title: str) -> str | None:
    """The task that a heading names first."""
    match = SAID["task_title"].match(title)
    return match["name"].strip("`").rstrip("-") if match else None


def names_in(text: str, known: Iterable[str]) -> list[str]:
    """Those of the known names that stand in a text whole, longest first; none within another."""
    found = []
    for name in sorted(known, key=lambda each: (-len(each), each)):
        pattern = rf"(?<![\w/-]){re.escape(name)}(?![\w/-])"
        text, n_times = re.subn(pattern, " | ", text)
        if n_times:
            found.append(name)
    return found


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
    if each is None or SAID["no_run"].search(each.run_id):
        return None
    is_other = SAID["file_name"].search(each.task_id) or SAID["day"].search(str(each))
    return None if is_other else each
